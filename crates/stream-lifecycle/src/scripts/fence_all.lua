-- fence_all: forgets every registration of a group, and takes none any more below an epoch that is above all of theirs. ARGV: 3 group, 4 by how much.
local refused = guard(false) or conflict({{KEYS[3], 'hash'}})
  or denied({{'HKEYS', KEYS[3]}, {'HGET', KEYS[3], 'f'}, {'HDEL', KEYS[3], 'f'}, {'HSET', KEYS[3], 'f', 'v'}})
if refused then
  return refused
end
local prefix = 'c\31' .. ARGV[3] .. '\31'
local most = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[3])) do
  if string.sub(field, 1, #prefix) == prefix then
    local epoch = string.match(redis.call('HGET', KEYS[3], field), '^%d+\31(%d+)\31')
    most = math.max(most, tonumber(epoch))
    redis.call('HDEL', KEYS[3], field, 'k' .. string.sub(field, 2))
  end
end
local sole = redis.call('HGET', KEYS[3], 'x\31' .. ARGV[3])
if sole then
  most = math.max(most, tonumber(string.match(sole, '\31(%d+)$')))
end
if most == 0 then
  return {0, '0'}
end
local floor = decimal(most + ARGV[4])
redis.call('HSET', KEYS[3], 'x\31' .. ARGV[3], '\31' .. floor)
return {0, floor}
