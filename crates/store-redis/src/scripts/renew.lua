-- renew: renews leases of members if the record is still the expected one, of the present history; else returns the record.
-- KEYS: metadata, leases, progress. ARGV: expected revision and etag; length of a lease in ms;
-- then counted lists: members, progress to keep (member, text).
local metadata, leases, progress = unpack(KEYS)
local expected_revision, expected_etag, length = take(), take(), take()
local denied = first_denied({
  {'HMGET', metadata}, {'HGET', metadata}, {'EXISTS', metadata}, {'ZRANGE', leases}, {'ZADD', leases}, {'HSET', progress}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end
local now = now_ms()
local found = redis.call('HMGET', metadata, 'revision', 'etag', 'history')
if found[1] ~= expected_revision or found[2] ~= expected_etag or found[3] ~= history() then
  return {'stale', decimal(now), read_group(metadata, leases, '')}
end
local deadline = decimal(now + length)
local scores = {}
for _, member in ipairs(take_list(1)) do
  scores[#scores + 1] = deadline
  scores[#scores + 1] = member
end
-- A longer lease was promised to the member, by a coordinator with another setting.
for first = 1, #scores, 2000 do
  redis.call('ZADD', leases, 'GT', unpack(scores, first, math.min(first + 1999, #scores)))
end
in_parts('HSET', progress, take_list(2), 2)
return {'ok', decimal(now), deadline}
