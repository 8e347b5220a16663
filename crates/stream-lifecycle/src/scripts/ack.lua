-- ack: acknowledges entries and moves the group's position on. ARGV: 3 group, 4 consumer or nothing, 5 token, 6 member epoch, 7 whether each id is told of, 8… ids.
local refused = guard(false)
  or ARGV[4] ~= '' and fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or may_keep()
if refused then
  return refused
end
local saved = saved_of(ARGV[3])
refused = may_settle(saved)
if refused then
  return refused
end
local counts, total = {}, 0
for index = 8, ARGV[7] == '1' and #ARGV or 8 do
  local count = redis.pcall('XACK', KEYS[2], ARGV[3], unpack(ARGV, index, ARGV[7] == '1' and index or #ARGV))
  -- Only the first can fail: nothing has happened then.
  if type(count) == 'table' then
    return unusable() or denied({{'XACK', KEYS[2], 'g', '1-0'}}) or count
  end
  counts[#counts + 1] = decimal(count)
  total = total + count
end
if total > 0 then
  move_on(ARGV[3], saved)
else
  refused = unusable() or not group_of(ARGV[3]) and {16, ARGV[3]}
  if refused then
    return refused
  end
end
forget(ARGV[3], saved, ARGV, 8)
return {0, counts}
