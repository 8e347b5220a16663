-- remove: removes a group and all it has, if it is still the expected version, and tells subscribers.
-- KEYS: metadata, leases, progress, mutex. ARGV: token; expected revision and etag; channel; time to live in ms.
-- The right is kept, under a token that says what happened, until the directory is cleaned.
local metadata, leases, progress, mutex = unpack(KEYS)
local token, expected_revision, expected_etag, channel, ttl = take(), take(), take(), take(), take()
local denied = first_denied({
  {'HMGET', metadata}, {'DEL', metadata}, {'DEL', leases}, {'DEL', progress}, {'GET', mutex}, {'SET', mutex}, {'DEL', mutex},
  {'PUBLISH', channel}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end
local holder = redis.call('GET', mutex)
-- A driver may have sent it twice.
if holder == right(token .. ' removed') then
  return {'ok'}
end
if holder ~= right(token) then
  return {'lost'}
end
local found = redis.call('HMGET', metadata, 'revision', 'etag')
if found[1] ~= expected_revision or found[2] ~= expected_etag then
  redis.call('DEL', mutex)
  return {'conflict', found[1]}
end
redis.call('DEL', metadata, leases, progress)
redis.call('SET', mutex, right(token .. ' removed'), 'PX', ttl)
redis.call('PUBLISH', channel, '')
return {'ok'}
