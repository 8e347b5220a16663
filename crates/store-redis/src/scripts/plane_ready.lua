-- plane_ready: shows that the Redis of the shard streams can be written. A read-only replica refuses the script before its first line.
-- KEYS: any.
return {'ok', KEYS[1]}
