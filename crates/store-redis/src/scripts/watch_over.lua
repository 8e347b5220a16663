-- watch_over: says that a coordinator is watching, since when some coordinator has been without a gap, and whether writes were lost.
-- KEYS: coordination. ARGV: the longest silence in ms that is no gap; the last mark that the caller left (or '').
local denied = first_denied({{'HMGET', KEYS[1]}, {'HSET', KEYS[1]}, {'INFO', 'server'}})
if denied then
  return {'denied', denied}
end
local gap, mark, now = tonumber(take()), tonumber(take()), now_ms()
local fields = redis.call('HMGET', KEYS[1], 'since', 'seen', 'doubted', 'history', 'lostFrom')
local since, seen, doubted = tonumber(fields[1] or ''), tonumber(fields[2] or ''), tonumber(fields[3] or '')
local lost_from, present = tonumber(fields[5] or ''), history()
-- A mark that is gone or lower, or of another history: what was written after the last one that is there may be lost. One that is ahead of the clock
-- says only that the clock went back.
local is_lost = mark and mark <= now and not (seen and seen >= mark)
if is_lost or (fields[4] and fields[4] ~= present) then
  doubted = math.max(now, (doubted or 0) + 1)
  lost_from = seen and seen + 1 or doubted
  redis.call('HSET', KEYS[1], 'doubted', decimal(doubted), 'lostFrom', decimal(lost_from))
end
-- A clock that went back is a gap too.
if not since or not seen or since > seen or seen > now or now - seen > gap then
  since = now
end
redis.call('HSET', KEYS[1], 'since', decimal(since), 'seen', decimal(now), 'history', present)
return {'ok', decimal(now), decimal(since), doubted and decimal(doubted) or '', decimal(lost_from or doubted or 0)}
