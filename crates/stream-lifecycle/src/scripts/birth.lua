
-- ARGV: 3 owner, 4 retention, 5 whether it was asked for, 6 mode, 7 length and 8 end of the expiry, 9 length limit, 10 its precision,
-- 11 window of add_once, 12 whether an existing stream is taken over, 13 earlier generation and 14 its incarnation, 15… groups.
local function groups_of(key)
  local there = {}
  if kind(key) == 'stream' then
    for _, group in ipairs(redis.call('XINFO', 'GROUPS', key)) do
      there[group[2]] = true
    end
  end
  return there
end

local function identity()
  if is_open then
    return ARGV[1], KEYS[2], ARGV[2]
  end
  return life[1], life[2] or '', life[3] or ''
end

-- What the same creation answers when it is repeated.
local function again()
  local refused = guard(false)
  if refused then
    return refused
  end
  local retention = redis.call('HGET', KEYS[1], 'retention') or ''
  if ARGV[5] == '1' and retention ~= ARGV[4] then
    return {10, ARGV[4], retention}
  end
  return {0, 'existing', retention, identity()}
end

local function end_of_life()
  if ARGV[6] == 'fixed' or ARGV[6] == 'sliding' then
    return decimal(now_ms() + ARGV[7])
  end
  return ARGV[8]
end

local function may_be_born()
  local now = now_ms()
  if ARGV[6] == 'deadline' and tonumber(ARGV[8]) <= now then
    return {11, ARGV[8], decimal(now)}
  end
  return denied({{'HSET', KEYS[1], 'f', 'v'}, {'DEL', KEYS[1]}, {'HSETNX', KEYS[3], 'f', 'v'}, {'PERSIST', KEYS[2]}, {'XGROUP', 'CREATE', KEYS[2], 'g', '0', 'MKSTREAM'},
    {'XGROUP', 'DESTROY', KEYS[2], 'g'}, {'HSET', KEYS[3], 'f', 'v'}, {'HSET', KEYS[4], 'f', 'v'},
    {'HSET', KEYS[5], 'f', 'v'}, {'PEXPIREAT', KEYS[2], '1'}, {'PEXPIREAT', KEYS[3], '1'},
    {'PEXPIREAT', KEYS[4], '1'}, {'PEXPIREAT', KEYS[5], '1'}})
end

-- Makes all keys of a generation. Each has a field from the start, so that none is missing while its slot moves.
local function birth()
  local there = groups_of(KEYS[2])
  -- The marks of windows are under a name that no key of a publication can have.
  local marks = {[4] = redis.call('HGET', KEYS[4], '\31') or '', [5] = redis.call('HGET', KEYS[5], '\31') or ''}
  redis.call('XGROUP', 'CREATE', KEYS[2], '\31', '0', 'MKSTREAM')
  redis.call('XGROUP', 'DESTROY', KEYS[2], '\31')
  redis.call('HSETNX', KEYS[3], '#', '1')
  for index = 15, #ARGV do
    if not there[ARGV[index]] then
      redis.call('XGROUP', 'CREATE', KEYS[2], ARGV[index], '0')
      there[ARGV[index]] = true
    end
    redis.call('HSETNX', KEYS[3], 'g\31' .. ARGV[index], '1\0310-0')
  end
  local window = math.floor(now_ms() / ARGV[11])
  for index = 4, 5 do
    local ahead = (index - 4 - window) % 2
    -- A mark from ahead is of windows of another length.
    if (tonumber(marks[index]) or window + 1) > window then
      redis.call('HSET', KEYS[index], '\31', decimal(window - ahead))
    end
  end
  redis.call('DEL', KEYS[1])
  redis.call('HSET', KEYS[1], 'v', '1', 'state', 'active', 'generation', ARGV[1], 'physical_key', KEYS[2],
    'incarnation', ARGV[2], 'retention', ARGV[4], 'ttl_mode', ARGV[6], 'ttl_ms', ARGV[7], 'maxlen', ARGV[9],
    'trim', ARGV[10], 'once_ms', ARGV[11], 'created_ms', decimal(now_ms()), 'owner', ARGV[3])
  local expires = end_of_life()
  if expires ~= '' then
    redis.call('HSET', KEYS[1], 'expires_ms', expires)
    for index = 2, 5 do
      redis.call('PEXPIREAT', KEYS[index], expires)
    end
  else
    redis.call('HSET', KEYS[1], 'open', ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. KEYS[2])
    for index = 2, 5 do
      redis.call('PERSIST', KEYS[index])
    end
  end
  return {0, 'created', ARGV[4], ARGV[1], KEYS[2], ARGV[2]}
end
