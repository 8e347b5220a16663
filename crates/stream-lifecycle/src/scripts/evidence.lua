-- evidence: reads what a drain still waits for, of every group (rule G4).
local refused = guard(false) or conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {0, ''}
end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local told = {}
for index, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
  local group = fields_of(row)
  local is_open = last and is_after(last[1], group['last-delivered-id'])
  -- A lag below zero is as good as unknown.
  told[index] = {group.name, decimal(group.pending), group.lag and group.lag >= 0 and decimal(group.lag) or '',
    is_open and '1' or '0', trimmed_unread(group.name)}
end
return {0, decimal(redis.call('XLEN', KEYS[2])), told}
