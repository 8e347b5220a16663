-- replace: writes the first record of a group in the place of one that can't be read, and tells subscribers. The right stays with the caller.
-- KEYS and ARGV: those of create.
local metadata, leases, progress, mutex = unpack(KEYS)
local token = take()
local revision, etag, schema, layout, aggregate = take(), take(), take(), take(), take()
local channel, news = take(), take()
local denied = first_denied({
  {'HGET', metadata}, {'HSET', metadata}, {'DEL', metadata}, {'DEL', leases}, {'ZADD', leases}, {'DEL', progress},
  {'GET', mutex}, {'PUBLISH', channel}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end
if redis.call('GET', mutex) ~= right(token) then
  return {'lost'}
end
redis.call('DEL', metadata, leases, progress)
redis.call('HSET', metadata, 'aggregate', aggregate, 'revision', revision, 'etag', etag,
  'schemaVersion', schema, 'layoutVersion', layout, 'updatedAt', decimal(now_ms()), 'history', history())
in_parts('ZADD', leases, take_list(2), 2)
redis.call('PUBLISH', channel, news)
return {'ok'}
