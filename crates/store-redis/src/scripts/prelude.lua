-- Stands before every script. Nothing here writes.

-- The store's time in milliseconds. Called once in a script.
local function now_ms()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Numbers leave scripts as decimal strings; those up to 2^53 are exact.
local function decimal(number)
  return string.format('%.0f', number)
end

-- Names the first of the commands that the user may not run. A script that is refused half way would leave half a change behind, and
-- the server's answer would not say what is missing.
local function first_denied(commands)
  for _, command in ipairs(commands) do
    if not redis.acl_check_cmd(unpack(command)) then
      return command[1] .. ' on ' .. command[2]
    end
  end
  return false
end

-- What tells one history of the server's data from another: a restart and a promotion both begin a new one, and may lose writes.
local known_history
local function history()
  if not known_history then
    local info = redis.call('INFO', 'server') .. redis.call('INFO', 'replication')
    known_history = (string.match(info, 'run_id:(%x+)') or '') .. ' ' .. (string.match(info, 'master_replid:(%x+)') or '')
  end
  return known_history
end

-- The right to change a group, as it is kept: it ends with the history, since what was read under it may be lost by then.
local function right(token)
  return token .. ' ' .. history()
end

-- The record of a group and its leases; the record itself only if the caller does not know it already (by its etag).
local function read_group(metadata, leases, known)
  local fields = redis.call('HMGET', metadata, 'etag', 'revision', 'schemaVersion', 'layoutVersion', 'history')
  if not fields[1] and redis.call('EXISTS', metadata) == 0 then
    return {'none'}
  end
  local aggregate = false
  if fields[1] ~= known then
    aggregate = redis.call('HGET', metadata, 'aggregate')
  end
  local deadlines = redis.call('ZRANGE', leases, 0, -1, 'WITHSCORES')
  local is_same = fields[5] == history() and '1' or '0'
  return {'there', fields[1], fields[2], fields[3], fields[4], aggregate, deadlines, is_same}
end

-- Runs a command of many arguments in parts, since a single call takes only so many.
local function in_parts(command, key, arguments, width)
  local size = 1000 * width
  for first = 1, #arguments, size do
    local last = math.min(first + size - 1, #arguments)
    redis.call(command, key, unpack(arguments, first, last))
  end
end

-- Takes the next argument, or the next counted list of them.
local position = 0
local function take()
  position = position + 1
  return ARGV[position]
end
local function take_list(width)
  local list = {}
  for _ = 1, tonumber(take()) * width do
    list[#list + 1] = take()
  end
  return list
end
