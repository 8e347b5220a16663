-- renew: prolongs a rebuild while its next page is read. ARGV: 1 its token, 2 how long removals are kept.
local now = clock()
if not is_mine(now, ARGV[1], tonumber(ARGV[2])) then
  return {4}
end
prolong(now)
return {0}
