-- release: gives the right to change a group back, if it is still this one.
-- KEYS: mutex. ARGV: token.
local denied = first_denied({{'GET', KEYS[1]}, {'DEL', KEYS[1]}, {'INFO', 'server'}})
if denied then
  return {'denied', denied}
end
if redis.call('GET', KEYS[1]) == right(take()) then
  redis.call('DEL', KEYS[1])
end
return {'ok'}
