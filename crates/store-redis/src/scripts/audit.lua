-- audit: puts an event before the earlier ones and drops what is beyond the cap.
-- KEYS: list, and for that of a group its metadata. ARGV: event, cap.
-- The list of a group is begun only while the group exists: nobody fills the store by naming groups that don't.
local commands = {{'LPUSH', KEYS[1]}, {'LTRIM', KEYS[1]}}
if KEYS[2] then
  commands[#commands + 1] = {'EXISTS', KEYS[2]}
end
local denied = first_denied(commands)
if denied then
  return {'denied', denied}
end
local event = take()
local cap = tonumber(take())
if KEYS[2] and redis.call('EXISTS', KEYS[1]) == 0 and redis.call('EXISTS', KEYS[2]) == 0 then
  return {'none'}
end
redis.call('LPUSH', KEYS[1], event)
redis.call('LTRIM', KEYS[1], 0, cap - 1)
return {'ok'}
