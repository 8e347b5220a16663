-- evidence: reads what a drain still waits for, of every group (rule G4).
local refused = guard(false) or conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {0, ''}
end
local stream = extent()
local told = {}
for index, row in ipairs(redis.call('XINFO', 'GROUPS', KEYS[2])) do
  local group = fields_of(row)
  told[index] = {group.name, decimal(group.pending), lag_of(group, stream), has_unread(group, stream) and '1' or '0',
    trimmed_unread(group.name)}
end
return {0, decimal(stream.length), told}
