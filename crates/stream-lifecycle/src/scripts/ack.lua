-- ack: acknowledges entries and moves the group's position on. ARGV: 3 group, 4 consumer or nothing, 5 token, 6 member epoch, 7… ids.
local refused = guard(false) or unusable()
  or ARGV[4] ~= '' and fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or denied({{'XACK', KEYS[2], 'g', '1-0'}, {'HSET', KEYS[3], 'f', 'v'}}) or may_keep()
if refused then
  return refused
end
local group = group_of(ARGV[3])
if not group then
  return {16, ARGV[3]}
end
local count = redis.call('XACK', KEYS[2], ARGV[3], unpack(ARGV, 7))
if count > 0 then
  local cursor = group['last-delivered-id']
  if group.pending > count then
    cursor = before(redis.call('XPENDING', KEYS[2], ARGV[3])[2])
  end
  local field = 'g\31' .. ARGV[3]
  local saved = redis.call('HMGET', KEYS[3], '#', field)
  local position = (saved[1] or '1') .. '\31' .. cursor
  if saved[2] ~= position then
    redis.call('HSET', KEYS[3], '#', saved[1] or '1', field, position)
    keep(false)
  end
end
return {0, decimal(count)}
