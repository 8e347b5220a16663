-- plane_ready: shows that the Redis of the shard streams can be written, and tells what it does when it is full. A read-only replica refuses the script before
-- its first line.
-- KEYS: any.
local policy = ''
-- The user of the streams does without the right to ask.
if redis.acl_check_cmd('INFO', 'memory') then
  policy = string.match(redis.call('INFO', 'memory'), 'maxmemory_policy:([%w-]+)') or ''
end
return {'ok', policy}
