-- dead_letter: copies pending entries to the dead letters of their group and acknowledges them.
-- KEYS 6: the dead letters. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch, 7 reason, 8 how many dead letters are kept, or nothing, 9… ids.
local group = ARGV[3]
local refused = guard(false) or unusable() or conflict({{KEYS[6], 'stream'}}) or fenced(group, ARGV[4], ARGV[5], ARGV[6])
  or denied({{'XADD', KEYS[6], '*', 'f', 'v'}, {'XACK', KEYS[2], 'g', '1-0'}, {'XRANGE', KEYS[2], '-', '+'}, {'HGET', KEYS[3], 'f'}})
  or may_keep()
if refused then
  return refused
end
local saved = saved_of(group)
refused = may_settle(saved) or not group_of(group) and {16, group}
if refused then
  return refused
end
local found, unknown, seen = {}, {}, {}
for index = 9, #ARGV do
  local id = ARGV[index]
  if seen[id] or #redis.call('XPENDING', KEYS[2], group, id, id, 1) == 0 then
    unknown[#unknown + 1] = id
  else
    seen[id] = true
    local entry = redis.call('XRANGE', KEYS[2], id, id)[1]
    -- A script can hand over only so much at once.
    if entry and #entry[2] > 7000 then
      return {24, id, decimal(#entry[2] / 2)}
    end
    found[#found + 1] = {id, entry and entry[2]}
  end
end

local function copy(id, fields)
  local words = ARGV[8] == '' and {KEYS[6], '*'} or {KEYS[6], 'MAXLEN', '=', ARGV[8], '*'}
  for index = 1, #fields do
    words[#words + 1] = fields[index]
  end
  local more = {'dlq.stream', KEYS[2], 'dlq.id', id, 'dlq.group', group, 'dlq.attempts', decimal((attempted(group, id))), 'dlq.reason', ARGV[7]}
  for index = 1, #more do
    words[#words + 1] = more[index]
  end
  return redis.call('XADD', unpack(words))
end

local moved, lost = {}, {}
for _, entry in ipairs(found) do
  if entry[2] then
    moved[#moved + 1] = {entry[1], copy(entry[1], entry[2])}
  else
    lost[#lost + 1] = entry[1]
  end
  redis.call('XACK', KEYS[2], group, entry[1])
end
if #found > 0 then
  move_on(group, saved)
end
forget(group, saved, ARGV, 9)
return {0, moved, lost, unknown}
