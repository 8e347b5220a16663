-- ack: acknowledges entries and moves the group's position on. ARGV: 3 group, 4 consumer or nothing, 5 token, 6 member epoch, 7… ids.
local refused = guard(false)
  or ARGV[4] ~= '' and fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or denied({{'HSET', KEYS[3], 'f', 'v'}}) or may_keep()
if refused then
  return refused
end
local field = 'g\31' .. ARGV[3]
local saved = redis.pcall('HMGET', KEYS[3], '#', field)
local pending = redis.pcall('XPENDING', KEYS[2], ARGV[3])
if saved.err or pending.err then
  return unusable() or not group_of(ARGV[3]) and {16, ARGV[3]} or saved.err and saved or pending
end
local count = redis.call('XACK', KEYS[2], ARGV[3], unpack(ARGV, 7))
if count > 0 then
  local cursor
  if pending[1] > count then
    cursor = before(redis.call('XPENDING', KEYS[2], ARGV[3])[2])
  else
    cursor = group_of(ARGV[3])['last-delivered-id']
  end
  local position = (saved[1] or '1') .. '\31' .. cursor
  if saved[2] ~= position then
    redis.call('HSET', KEYS[3], '#', saved[1] or '1', field, position)
    keep(false)
  end
end
return {0, decimal(count)}
