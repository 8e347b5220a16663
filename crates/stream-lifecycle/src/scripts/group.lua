
local function fields_of(flat)
  local fields = {}
  for index = 1, #flat, 2 do
    fields[flat[index]] = flat[index + 1]
  end
  return fields
end

local function group_of(name)
  for _, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
    local group = fields_of(row)
    if group.name == name then
      return group
    end
  end
end

-- How many entries the group is known to have lost unread.
local function trimmed_unread(name)
  return string.match(redis.call('HGET', KEYS[3], 'u\31' .. name) or '0', '^%d+')
end

-- Refuses a stream or metadata of a wrong type, and a stream that is gone.
local function unusable()
  local found = kind(KEYS[2])
  if found ~= 'stream' then
    return found == 'none' and {8} or {6, KEYS[2], found}
  end
  return conflict({{KEYS[3], 'hash'}})
end

-- Refuses a consumer that is not registered with this token, or whose shard was given to another. Of a sole consumer that left, its epoch
-- stays: whoever was registered before it remains fenced.
local function fenced(group, consumer, token, epoch)
  local found = redis.pcall('HMGET', KEYS[3], 'c\31' .. group .. '\31' .. consumer, 'x\31' .. group)
  if found.err then
    return conflict({{KEYS[3], 'hash'}}) or denied({{'HMGET', KEYS[3], 'f'}}) or found
  end
  if not found[1] then
    return {17, '', ''}
  end
  local known, since = string.match(found[1], '^(%d+)\31(%d+)\31')
  if known ~= token or tonumber(epoch) < tonumber(since) then
    return {17, known, since}
  end
  if found[2] then
    local sole, at = string.match(found[2], '^(.*)\31(%d+)$')
    if sole ~= consumer and (sole ~= '' or tonumber(since) < tonumber(at)) then
      return {17, known, at}
    end
  end
end

-- Refuses a recovery whose lease has lapsed or was taken by another.
local function lapsed(group, owner, fence)
  local lease = redis.call('HGET', KEYS[3], 'l\31' .. group)
  if not lease then
    return {20, ''}
  end
  local holder, at, ends = string.match(lease, '^(.*)\31(%d+)\31(%d+)$')
  if holder ~= owner or at ~= fence or tonumber(ends) <= now_ms() then
    return {20, at}
  end
end
