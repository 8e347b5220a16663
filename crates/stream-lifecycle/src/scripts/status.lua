-- status: reads a generation, whatever its state. ARGV 3: how many groups are told at most.
local refused = guard(false)
if refused and refused[1] < 3 then
  return refused
end
refused = conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}})
if refused then
  return refused
end
local more = redis.call('HMGET', KEYS[1], 'retention', 'created_ms', 'sealed_ms', 'destroyed_ms', 'owner')
for index = 1, 5 do
  more[index] = more[index] or ''
end
local state = is_open and 'active' or life[4]
if state ~= 'destroyed' and has_expired() then
  state = 'expired'
end
local answer = {0, state, life and life[5] or '', more[1], more[2], more[3], more[4], more[5]}
if state == 'destroyed' or state == 'expired' or kind(KEYS[2]) == 'none' then
  answer[#answer + 1] = ''
  return answer
end
local stream = extent()
answer[#answer + 1] = decimal(stream.length)
answer[#answer + 1] = stream.given
answer[#answer + 1] = decimal(stream.added)
local groups = redis.call('XINFO', 'GROUPS', KEYS[2])
answer[#answer + 1] = decimal(#groups)
local told = {}
for index = 1, math.min(#groups, tonumber(ARGV[3])) do
  local group = fields_of(groups[index])
  told[index] = {group.name, decimal(group.consumers), decimal(group.pending), group['last-delivered-id'],
    lag_of(group, stream), trimmed_unread(group.name)}
end
answer[#answer + 1] = told
return answer
