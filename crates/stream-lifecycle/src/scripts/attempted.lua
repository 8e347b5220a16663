
-- How often an entry was attempted and when it is due again: 0 and 0 of one that nothing is recorded of.
local function attempted(group, id)
  local found = redis.call('HGET', KEYS[3], 'a\31' .. group .. '\31' .. id)
  if not found then
    return 0, '0', true
  end
  local count, due = string.match(found, '^(%d+)\31(%d+)$')
  return tonumber(count), due, false
end

local function record(group, id, count, due, is_new)
  redis.call('HSET', KEYS[3], 'a\31' .. group .. '\31' .. id, decimal(count) .. '\31' .. due)
  if is_new then
    redis.call('HINCRBY', KEYS[3], 'a', 1)
  end
  keep(false)
end

local function may_record()
  return denied({{'HGET', KEYS[3], 'f'}, {'HSET', KEYS[3], 'f', 'v'}, {'HINCRBY', KEYS[3], 'f', '1'}, {'XPENDING', KEYS[2], 'g'},
    {'XINFO', 'GROUPS', KEYS[2]}}) or may_keep()
end

-- Refuses an entry that is not pending for the group.
local function not_pending(group, id)
  if not group_of(group) then
    return {16, group}
  end
  if #redis.call('XPENDING', KEYS[2], group, id, id, 1) == 0 then
    return {23, group, id}
  end
end
