-- claim: takes over pending entries, one page. ARGV: 3 group, 4 owner, 5 fence, 6 consumer, 7 least idle time, 8 where the page begins, 9 how many.
local refused = guard(false) or unusable() or lapsed(ARGV[3], ARGV[4], ARGV[5])
if refused then
  return refused
end
local saved = saved_of(ARGV[3])
refused = saved.err and (denied({{'HMGET', KEYS[3], 'f'}}) or saved) or has_attempts(saved) and denied({{'HDEL', KEYS[3], 'f'}, {'HINCRBY', KEYS[3], 'f', '1'}})
  or not group_of(ARGV[3]) and {16, ARGV[3]}
if refused then
  return refused
end
local page = redis.call('XAUTOCLAIM', KEYS[2], ARGV[3], ARGV[6], ARGV[7], ARGV[8], 'COUNT', ARGV[9])
-- Entries that are gone are no longer pending.
forget(ARGV[3], saved, page[3] or {}, 1)
return {0, page[1], page[2], page[3] or {}}
