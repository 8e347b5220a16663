-- destroy: removes the keys of a generation and leaves a tombstone.
-- KEYS 6: where the stream is kept, if it is. ARGV: 3 `force` or `drained`, 4 `lag` or `entries`, 5 how long the stream is kept, 6… groups that must be there.
local refused = guard(false)
if refused and refused[1] == 3 then
  return {0, redis.call('HGET', KEYS[1], 'lost') and 'lost' or 'again'}
end
local has_ended = refused and refused[1] == 4
if refused and not has_ended then
  return refused
end
local keeps = ARGV[5] ~= '0'
local proves = ARGV[3] == 'drained'
refused = conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}, {KEYS[4], 'hash'}, {KEYS[5], 'hash'}})
  or keeps and conflict({{KEYS[6], 'none'}})
  or denied({{'HSET', KEYS[1], 'f', 'v'}, {'HDEL', KEYS[1], 'f'}, {'UNLINK', KEYS[2]}, {'UNLINK', KEYS[3]}, {'UNLINK', KEYS[4]}, {'UNLINK', KEYS[5]}})
  or proves and denied({{'XINFO', 'GROUPS', KEYS[2]}, {'XINFO', 'STREAM', KEYS[2]}})
  or keeps and denied({{'RENAME', KEYS[2], KEYS[6]}, {'PEXPIRE', KEYS[6], '1'}})
if refused then
  return refused
end

local function lacks(group, condition, pending, lag)
  return {13, group, condition, decimal(pending or 0), lag or ''}
end

-- Rule G4: nothing pending, nothing behind, and nothing after the last delivered entry, for every group and every group that must be there.
local function undrained()
  if kind(KEYS[2]) == 'none' then
    return
  end
  local stream, there = extent(), {}
  for _, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
    local group = fields_of(row)
    local lag = lag_of(group, stream)
    there[group.name] = true
    if group.pending > 0 then
      return lacks(group.name, 'pending', group.pending, lag)
    end
    if has_unread(group, stream) then
      return lacks(group.name, 'unread', 0, lag)
    end
    if ARGV[4] == 'lag' and lag ~= '0' then
      return lacks(group.name, 'lag', 0, lag)
    end
  end
  for index = 6, #ARGV do
    if not there[ARGV[index]] then
      return lacks(ARGV[index], 'missing')
    end
  end
  if next(there) == nil and stream.length > 0 then
    return lacks('', 'missing')
  end
end

-- Also when the time of the generation is over: what is under its name then, plain clients put there.
refused = proves and undrained()
if refused then
  return refused
end
-- A stream that is missing proves that nothing is left, and not that everything was handled: that is told, and told again.
local was_lost = proves and not has_ended and kind(KEYS[2]) == 'none'
redis.call('HSET', KEYS[1], 'state', 'destroyed', 'destroyed_ms', decimal(now_ms()))
if was_lost then
  redis.call('HSET', KEYS[1], 'lost', '1')
end
redis.call('HDEL', KEYS[1], 'open')
if keeps and not has_ended and kind(KEYS[2]) == 'stream' then
  redis.call('RENAME', KEYS[2], KEYS[6])
  redis.call('PEXPIRE', KEYS[6], ARGV[5])
end
redis.call('UNLINK', KEYS[2], KEYS[3], KEYS[4], KEYS[5])
return {0, was_lost and 'lost' or 'destroyed'}
