-- begin: takes the right to change a group, unless somebody has it, and reads the group and the time in the same step.
-- KEYS: metadata, leases, mutex. ARGV: token, time to live in ms, the etag that the caller knows (or '').
-- Repeated with the same token it takes the same right again.
local metadata, leases, mutex = unpack(KEYS)
local denied = first_denied({
  {'HMGET', metadata}, {'HGET', metadata}, {'EXISTS', metadata}, {'ZRANGE', leases}, {'GET', mutex}, {'SET', mutex}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end
local token, ttl, known = take(), take(), take()
local mine, present = right(token), history()
local holder = redis.call('GET', mutex)
-- One of another history is good for nothing any more.
if holder and holder ~= mine and string.sub(holder, -#present) == present then
  return {'locked'}
end
local now = now_ms()
local group = read_group(metadata, leases, known)
redis.call('SET', mutex, mine, 'PX', ttl)
return {'begun', decimal(now), group}
