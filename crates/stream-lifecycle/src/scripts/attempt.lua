-- attempt: counts an attempt at handling a pending entry, before it is handled. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch, 7 id.
local refused = guard(false) or unusable() or fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6]) or may_record() or not_pending(ARGV[3], ARGV[7])
if refused then
  return refused
end
local count, due, is_new = attempted(ARGV[3], ARGV[7])
-- Who comes too early does not attempt anything.
if tonumber(due) <= now_ms() then
  count = count + 1
  record(ARGV[3], ARGV[7], count, due, is_new)
end
return {0, decimal(count), due, decimal(now_ms())}
