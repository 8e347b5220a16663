-- evidence: reads what a drain still waits for, of every group (rule G4).
local refused = guard(false) or conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {0, ''}
end
local function id_of(entries)
  return entries[1] and entries[1][1]
end

local length = redis.call('XLEN', KEYS[2])
local first = id_of(redis.call('XRANGE', KEYS[2], '-', '+', 'COUNT', 1))
local last = id_of(redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1))
local told = {}
for index, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
  local group = fields_of(row)
  local is_open = last and is_after(last, group['last-delivered-id'])
  told[index] = {group.name, decimal(group.pending), lag_of(group, first, last, length),
    is_open and '1' or '0', trimmed_unread(group.name)}
end
return {0, decimal(length), told}
