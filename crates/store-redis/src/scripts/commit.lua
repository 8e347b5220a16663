-- commit: writes a record, changes leases and progress, tells subscribers and gives the right back: all of it, or nothing.
-- KEYS: metadata, leases, progress, mutex.
-- ARGV: token; expected revision and etag; new revision, etag, schema version, layout version and aggregate; channel and what to tell;
-- then counted lists: judged leases (member, deadline or ''), leases to set (member, deadline as it was seen or '', new deadline),
-- leases to drop (member), progress to drop (member), progress to keep (member, text).
local metadata, leases, progress, mutex = unpack(KEYS)
local token = take()
local expected_revision, expected_etag = take(), take()
local revision, etag, schema, layout, aggregate = take(), take(), take(), take(), take()
local channel, news = take(), take()
local denied = first_denied({
  {'HGET', metadata}, {'HMGET', metadata}, {'HSET', metadata}, {'ZSCORE', leases}, {'ZADD', leases}, {'ZREM', leases},
  {'HSET', progress}, {'HDEL', progress}, {'GET', mutex}, {'DEL', mutex}, {'PUBLISH', channel}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end

-- A driver may have sent it twice.
if redis.call('HGET', metadata, 'etag') == etag then
  return {'ok'}
end
if redis.call('GET', mutex) ~= right(token) then
  return {'lost'}
end
local found = redis.call('HMGET', metadata, 'revision', 'etag')
if found[1] ~= expected_revision or found[2] ~= expected_etag then
  redis.call('DEL', mutex)
  return {'conflict', found[1]}
end
local function is_lease(score, seen)
  return tonumber(score or '') == tonumber(seen)
end
local judged = take_list(2)
for at = 1, #judged, 2 do
  if not is_lease(redis.call('ZSCORE', leases, judged[at]), judged[at + 1]) then
    redis.call('DEL', mutex)
    return {'renewed', judged[at]}
  end
end

local set = take_list(3)
local scores = {}
for at = 1, #set, 3 do
  local member, seen, deadline = set[at], set[at + 1], set[at + 2]
  local score = redis.call('ZSCORE', leases, member)
  -- One that was renewed since it was read, and runs longer, was promised to the member.
  local is_promised = score and not is_lease(score, seen) and tonumber(score) > tonumber(deadline)
  if not is_promised then
    scores[#scores + 1] = deadline
    scores[#scores + 1] = member
  end
end

redis.call('HSET', metadata, 'aggregate', aggregate, 'revision', revision, 'etag', etag,
  'schemaVersion', schema, 'layoutVersion', layout, 'updatedAt', decimal(now_ms()), 'history', history())
in_parts('ZADD', leases, scores, 2)
in_parts('ZREM', leases, take_list(1), 1)
in_parts('HDEL', progress, take_list(1), 1)
in_parts('HSET', progress, take_list(2), 2)
redis.call('DEL', mutex)
redis.call('PUBLISH', channel, news)
return {'ok'}
