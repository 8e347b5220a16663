-- deregister: removes a consumer that has nothing pending. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch.
local refused = guard(false) or unusable() or fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or denied({{'XGROUP', 'DELCONSUMER', KEYS[2], 'g', 'c'}, {'HDEL', KEYS[3], 'f'}, {'HSET', KEYS[3], 'f', 'v'}})
if refused then
  return refused
end
local sole = redis.call('HGET', KEYS[3], 'x\31' .. ARGV[3])
if group_of(ARGV[3]) then
  for _, row in ipairs(redis.call('XPENDING', KEYS[2], ARGV[3])[4] or {}) do
    if row[1] == ARGV[4] then
      return {18, row[2]}
    end
  end
  redis.call('XGROUP', 'DELCONSUMER', KEYS[2], ARGV[3], ARGV[4])
end
redis.call('HDEL', KEYS[3], 'c\31' .. ARGV[3] .. '\31' .. ARGV[4], 'k\31' .. ARGV[3] .. '\31' .. ARGV[4])
if sole and string.match(sole, '^(.*)\31%d+$') == ARGV[4] then
  redis.call('HSET', KEYS[3], 'x\31' .. ARGV[3], string.match(sole, '\31%d+$'))
end
return {0}
