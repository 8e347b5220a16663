-- watch_over: says that a coordinator is watching, and since when some coordinator has been without a gap.
-- KEYS: coordination. ARGV: the longest silence in ms that is no gap.
local denied = first_denied({{'HMGET', KEYS[1]}, {'HSET', KEYS[1]}})
if denied then
  return {'denied', denied}
end
local gap, now = tonumber(take()), now_ms()
local fields = redis.call('HMGET', KEYS[1], 'since', 'seen')
local since, seen = tonumber(fields[1] or ''), tonumber(fields[2] or '')
-- A clock that went back is a gap too.
if not since or not seen or since > seen or seen > now or now - seen > gap then
  since = now
end
redis.call('HSET', KEYS[1], 'since', decimal(since), 'seen', decimal(now))
return {'ok', decimal(now), decimal(since)}
