-- doubt: remembers for all coordinators that writes may have been lost, unless a later moment is known.
-- KEYS: coordination. ARGV: the moment in ms.
local denied = first_denied({{'HGET', KEYS[1]}, {'HSET', KEYS[1]}})
if denied then
  return {'denied', denied}
end
local at = tonumber(take())
local doubted = tonumber(redis.call('HGET', KEYS[1], 'doubted') or '')
if not doubted or doubted < at then
  redis.call('HSET', KEYS[1], 'doubted', decimal(at), 'lostFrom', decimal(at))
end
return {'ok'}
