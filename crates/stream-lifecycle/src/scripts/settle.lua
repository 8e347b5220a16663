
-- What is saved with a group: the number of the stream, the group's position, and how many entries of all groups have recorded attempts.
local function saved_of(group)
  return redis.pcall('HMGET', KEYS[3], '#', 'g\31' .. group, 'a')
end

local function has_attempts(saved)
  return saved[3] and saved[3] ~= '0'
end

-- What `move_on` and `forget` need. What is read after the first write has to be allowed too.
local function may_settle(saved)
  if saved.err or not (redis.acl_check_cmd('HSET', KEYS[3], 'f', 'v') and redis.acl_check_cmd('XPENDING', KEYS[2], 'g')
    and redis.acl_check_cmd('XINFO', 'GROUPS', KEYS[2]))
    or has_attempts(saved) and not (redis.acl_check_cmd('HDEL', KEYS[3], 'f') and redis.acl_check_cmd('HINCRBY', KEYS[3], 'f', '1')) then
    return unusable() or denied({{'HSET', KEYS[3], 'f', 'v'}, {'HMGET', KEYS[3], 'f'}, {'XPENDING', KEYS[2], 'g'},
      {'XINFO', 'GROUPS', KEYS[2]}, {'HDEL', KEYS[3], 'f'}, {'HINCRBY', KEYS[3], 'f', '1'}}) or saved
  end
end

-- Moves the saved position of a group on, to before the first entry that is pending.
local function move_on(group, saved)
  local pending = redis.call('XPENDING', KEYS[2], group)
  local cursor
  if pending[1] > 0 then
    cursor = before(pending[2])
  else
    cursor = group_of(group)['last-delivered-id']
  end
  local position = (saved[1] or '1') .. '\31' .. cursor
  if saved[2] ~= position then
    redis.call('HSET', KEYS[3], '#', saved[1] or '1', 'g\31' .. group, position)
    keep(false)
  end
end

-- Forgets what is recorded of entries that are no longer pending. Costs nothing while nothing is recorded at all.
local function forget(group, saved, ids, first)
  if not has_attempts(saved) then
    return
  end
  local gone = 0
  for index = first, #ids do
    gone = gone + redis.call('HDEL', KEYS[3], 'a\31' .. group .. '\31' .. ids[index])
  end
  if gone > 0 then
    redis.call('HINCRBY', KEYS[3], 'a', -gone)
  end
end
