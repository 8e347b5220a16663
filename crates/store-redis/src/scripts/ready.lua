-- ready: shows that scripts run, that they may write, and that the user may do everything that the store does.
-- KEYS: coordination. ARGV: a channel; then a counted list of commands with their keys (command, key).
local commands = {{'HSET', KEYS[1]}, {'PUBLISH', take()}}
local list = take_list(2)
for at = 1, #list, 2 do
  commands[#commands + 1] = {list[at], list[at + 1]}
end
local denied = first_denied(commands)
if denied then
  return {'denied', denied}
end
-- Without either a restart could not be told from none.
if history() == ' ' then
  return {'denied', 'INFO with run_id or master_replid in its answer'}
end
redis.call('HSET', KEYS[1], 'checked', decimal(now_ms()))
return {'ok', string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w-]+)') or ''}
