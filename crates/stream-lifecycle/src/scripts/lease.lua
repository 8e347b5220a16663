-- lease: takes, renews or gives back the right to recover a group. ARGV: 3 group, 4 `acquire`, `renew` or `release`, 5 owner, 6 length, 7 fence.
local refused = guard(false) or conflict({{KEYS[3], 'hash'}}) or denied({{'HSET', KEYS[3], 'f', 'v'}}) or may_keep()
if refused then
  return refused
end
local field, owner, fence = 'l\31' .. ARGV[3], ARGV[5], ARGV[7]
local ends = decimal(now_ms() + ARGV[6])
if ARGV[4] == 'acquire' then
  fence = decimal(now_ms())
  local lease = redis.call('HGET', KEYS[3], field)
  if lease then
    local holder, at, until_ms = string.match(lease, '^(.*)\31(%d+)\31(%d+)$')
    if holder ~= owner and tonumber(until_ms) > now_ms() then
      return {19, holder, decimal(until_ms - now_ms())}
    end
    fence = decimal(math.max(at + 1, now_ms()))
  end
else
  refused = lapsed(ARGV[3], owner, fence)
  if refused then
    return refused
  end
  if ARGV[4] == 'release' then
    ends = '0'
  end
end
redis.call('HSET', KEYS[3], field, owner .. '\31' .. fence .. '\31' .. ends)
keep(false)
return {0, fence, ends}
