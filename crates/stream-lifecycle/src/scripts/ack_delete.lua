-- ack_delete: acknowledges entries and deletes those that no other group needs. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch,
-- 7 whether the server knows XACKDEL, 8… ids.
local group = ARGV[3]
local refused = guard(false) or unusable() or fenced(group, ARGV[4], ARGV[5], ARGV[6]) or may_keep()
if refused then
  return refused
end
local saved = saved_of(group)
refused = may_settle(saved) or denied({{'XRANGE', KEYS[2], '-', '+'}}) or not group_of(group) and {16, group}
if refused then
  return refused
end
local total, deleted = 0, 0

local function count(id, is_deleted)
  total = total + 1
  if is_deleted or #redis.call('XRANGE', KEYS[2], id, id) == 0 then
    deleted = deleted + 1
  end
end

local outcomes = ARGV[7] == '1' and redis.pcall('XACKDEL', KEYS[2], group, 'ACKED', 'IDS', #ARGV - 7, unpack(ARGV, 8))
if outcomes and not outcomes.err then
  for index, outcome in ipairs(outcomes) do
    -- 1: deleted, 2: another group needs it, below 0: it was not pending.
    if outcome > 0 then
      count(ARGV[7 + index], outcome == 1)
    end
  end
else
  -- Without that command only a group that is alone knows that nobody else needs an entry.
  local is_alone = #redis.call('XINFO', 'GROUPS', KEYS[2]) == 1
  refused = denied({{'XACK', KEYS[2], 'g', '1-0'}}) or is_alone and denied({{'XDEL', KEYS[2], '1-0'}})
  if refused then
    return refused
  end
  for index = 8, #ARGV do
    if redis.call('XACK', KEYS[2], group, ARGV[index]) == 1 then
      if is_alone then
        redis.call('XDEL', KEYS[2], ARGV[index])
      end
      count(ARGV[index], is_alone)
    end
  end
end
if total > 0 then
  move_on(group, saved)
end
forget(group, saved, ARGV, 8)
return {0, decimal(total), decimal(deleted)}
