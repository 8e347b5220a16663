-- claim: takes over pending entries, one page. ARGV: 3 group, 4 owner, 5 fence, 6 consumer, 7 least idle time, 8 where the page begins, 9 how many.
local refused = guard(false) or unusable() or lapsed(ARGV[3], ARGV[4], ARGV[5])
if refused then
  return refused
end
if not group_of(ARGV[3]) then
  return {16, ARGV[3]}
end
local page = redis.call('XAUTOCLAIM', KEYS[2], ARGV[3], ARGV[6], ARGV[7], ARGV[8], 'COUNT', ARGV[9])
return {0, page[1], page[2], page[3] or {}}
