-- ack: acknowledges entries and moves the group's position on. ARGV: 3 group, 4 consumer or nothing, 5 token, 6 member epoch, 7 whether each id is told of, 8… ids.
local refused = guard(false)
  or ARGV[4] ~= '' and fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or may_keep()
if refused then
  return refused
end
local field = 'g\31' .. ARGV[3]
local saved = redis.pcall('HMGET', KEYS[3], '#', field)
-- What is read after the first write has to be allowed too.
if saved.err or not (redis.acl_check_cmd('HSET', KEYS[3], 'f', 'v') and redis.acl_check_cmd('XPENDING', KEYS[2], 'g')
  and redis.acl_check_cmd('XINFO', 'GROUPS', KEYS[2])) then
  return unusable() or denied({{'HSET', KEYS[3], 'f', 'v'}, {'HMGET', KEYS[3], 'f'}, {'XPENDING', KEYS[2], 'g'}}) or {7, 'XINFO GROUPS on ' .. KEYS[2]}
end
local counts, total = {}, 0
for index = 8, ARGV[7] == '1' and #ARGV or 8 do
  local count = redis.pcall('XACK', KEYS[2], ARGV[3], unpack(ARGV, index, ARGV[7] == '1' and index or #ARGV))
  -- Only the first can fail: nothing has happened then.
  if type(count) == 'table' then
    return unusable() or count
  end
  counts[#counts + 1] = decimal(count)
  total = total + count
end
if total == 0 then
  return unusable() or not group_of(ARGV[3]) and {16, ARGV[3]} or {0, counts}
end
local pending = redis.call('XPENDING', KEYS[2], ARGV[3])
local cursor
if pending[1] > 0 then
  cursor = before(pending[2])
else
  cursor = group_of(ARGV[3])['last-delivered-id']
end
local position = (saved[1] or '1') .. '\31' .. cursor
if saved[2] ~= position then
  redis.call('HSET', KEYS[3], '#', saved[1] or '1', field, position)
  keep(false)
end
return {0, counts}
