-- create: writes the first record of a group, if there is none, and tells subscribers. The right stays with the caller.
-- KEYS: metadata, leases, progress, mutex.
-- ARGV: token; revision, etag, schema version, layout version and aggregate; channel and what to tell;
-- then a counted list of leases (deadline, member).
local metadata, leases, progress, mutex = unpack(KEYS)
local token = take()
local revision, etag, schema, layout, aggregate = take(), take(), take(), take(), take()
local channel, news = take(), take()
local denied = first_denied({
  {'HGET', metadata}, {'EXISTS', metadata}, {'HSET', metadata}, {'DEL', leases}, {'ZADD', leases}, {'DEL', progress},
  {'GET', mutex}, {'PUBLISH', channel}, {'INFO', 'server'},
})
if denied then
  return {'denied', denied}
end
if redis.call('GET', mutex) ~= right(token) then
  return {'lost'}
end
if redis.call('EXISTS', metadata) == 1 then
  -- A driver may have sent it twice.
  if redis.call('HGET', metadata, 'etag') == etag then
    return {'ok'}
  end
  return {'exists'}
end
redis.call('HSET', metadata, 'aggregate', aggregate, 'revision', revision, 'etag', etag,
  'schemaVersion', schema, 'layoutVersion', layout, 'updatedAt', decimal(now_ms()), 'history', history())
redis.call('DEL', leases, progress)
in_parts('ZADD', leases, take_list(2), 2)
redis.call('PUBLISH', channel, news)
return {'ok'}
