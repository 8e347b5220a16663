-- Stands before every script. Nothing here writes.
-- KEYS: lifecycle, stream, metadata, first and second hash of records. ARGV: generation, incarnation, then the script's own.
-- `open` holds the identity in one word while nothing has to be asked: publishing is allowed and there is no expiry.
local is_open = redis.call('HGET', KEYS[1], 'open') == ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. KEYS[2]
local life
if not is_open then
  life = redis.call('HMGET', KEYS[1], 'generation', 'physical_key', 'incarnation', 'state', 'expires_ms', 'ttl_mode', 'ttl_ms')
end

-- Numbers leave scripts as decimal strings; those up to 2^53 are exact.
local function decimal(number)
  return string.format('%.0f', number)
end

-- The server's time in milliseconds. It is asked for once.
local clock
local function now_ms()
  if not clock then
    local time = redis.call('TIME')
    clock = time[1] * 1000 + math.floor(time[2] / 1000)
  end
  return clock
end

local function has_expired()
  return life and life[5] and now_ms() >= tonumber(life[5])
end

-- Refuses what the life of the shard does not allow. The order is part of the contract.
local function guard(publishes)
  if is_open then
    return
  end
  if not life[1] then
    return {1}
  end
  if life[1] ~= ARGV[1] or life[2] ~= KEYS[2] or life[3] ~= ARGV[2] then
    return {2, life[1], life[2] or '', life[3] or ''}
  end
  if life[4] == 'destroyed' then
    return {3, life[1]}
  end
  if has_expired() then
    return {4, life[1], life[5]}
  end
  if publishes and life[4] == 'sealed' then
    return {5}
  end
end

local function kind(key)
  return redis.call('TYPE', key).ok
end

-- Names the first of the keys whose type is wrong. A key that does not exist has no type.
local function conflict(rows)
  for _, row in ipairs(rows) do
    local found = kind(row[1])
    if found ~= 'none' and found ~= row[2] then
      return {6, row[1], found}
    end
  end
end

-- Names the first of the commands that the user may not run: a script that is refused half way would leave half a change behind.
local function denied(commands)
  for _, command in ipairs(commands) do
    if not redis.acl_check_cmd(unpack(command)) then
      local is_part = command[1] == 'XGROUP' or command[1] == 'XINFO'
      return {7, is_part and command[1] .. ' ' .. command[2] .. ' on ' .. command[3] or command[1] .. ' on ' .. command[2]}
    end
  end
end
