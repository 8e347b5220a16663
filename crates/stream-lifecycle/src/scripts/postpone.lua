-- postpone: a pending entry is not to be handled for a while. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch, 7 id, 8 for how long.
local refused = guard(false) or unusable() or fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6]) or may_record() or not_pending(ARGV[3], ARGV[7])
if refused then
  return refused
end
local count, _, is_new = attempted(ARGV[3], ARGV[7])
local due = decimal(now_ms() + ARGV[8])
record(ARGV[3], ARGV[7], count, due, is_new)
return {0, due}
