-- fence_all: forgets every registration of a group, and from which epoch on another is taken. ARGV 3: group.
local refused = guard(false) or conflict({{KEYS[3], 'hash'}}) or denied({{'HKEYS', KEYS[3]}, {'HDEL', KEYS[3], 'f'}})
if refused then
  return refused
end
local prefix = 'c\31' .. ARGV[3] .. '\31'
local forgotten = 0
for _, field in ipairs(redis.call('HKEYS', KEYS[3])) do
  if string.sub(field, 1, #prefix) == prefix then
    redis.call('HDEL', KEYS[3], field, 'k' .. string.sub(field, 2))
    forgotten = forgotten + 1
  end
end
redis.call('HDEL', KEYS[3], 'x\31' .. ARGV[3])
return {0, decimal(forgotten)}
