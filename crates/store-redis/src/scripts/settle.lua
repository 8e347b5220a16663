-- settle: finds out whether a change whose answer was lost took place, and takes care that it can't any more if it did not.
-- KEYS: metadata, mutex. ARGV: token; the etag that there is if it took place ('' if there is no group then).
local metadata, mutex = unpack(KEYS)
local denied = first_denied({{'HGET', metadata}, {'GET', mutex}, {'DEL', mutex}, {'INFO', 'server'}})
if denied then
  return {'denied', denied}
end
local token, wanted = take(), take()
if (redis.call('HGET', metadata, 'etag') or '') == wanted then
  return {'there'}
end
-- Should the change still be on its way, it will find that its right is lost.
if redis.call('GET', mutex) == right(token) then
  redis.call('DEL', mutex)
end
return {'absent'}
