-- ensure_group: makes a consumer group that is missing, where it had come to. ARGV: 3 group, 4 how many entries are counted at most.
local refused = guard(false) or conflict({{KEYS[2], 'stream'}, {KEYS[3], 'hash'}})
  or denied({{'XGROUP', 'CREATE', KEYS[2], 'g', '0', 'MKSTREAM'}, {'HSET', KEYS[3], 'f', 'v'}, {'HINCRBY', KEYS[3], 'f', '1'}})
  or may_keep()
if refused then
  return refused
end
local group = ARGV[3]
local field = 'g\31' .. group
if kind(KEYS[2]) == 'none' then
  -- Saved positions belong to the stream that was lost.
  redis.call('XGROUP', 'CREATE', KEYS[2], group, '0-0', 'MKSTREAM')
  local number = redis.call('HINCRBY', KEYS[3], '#', 1)
  -- That something was lost is told until the group acknowledges for the first time: an answer may be lost too.
  redis.call('HSET', KEYS[3], field, decimal(number) .. '\0310-0\31lost')
  keep(false)
  return {0, 'lost', '0-0', '1'}
end
local there = group_of(group)
local saved = redis.call('HMGET', KEYS[3], '#', field)
local number = saved[1] or '1'
local of, at, mark = string.match(saved[2] or '', '^(%d+)\31(%d+%-%d+)(.*)$')
if there then
  if not saved[2] then
    redis.call('HSET', KEYS[3], '#', number, field, number .. '\0310-0')
    keep(false)
  end
  return {0, mark and mark ~= '' and 'lost' or 'existing', there['last-delivered-id'], '0'}
end
local stream = fields_of(redis.call('XINFO', 'STREAM', KEYS[2]))
local cursor, said = '0-0', 'created'
if of then
  if of == number and not is_after(at, stream['last-generated-id']) then
    cursor = at
    said = mark ~= '' and 'lost' or said
  else
    -- The position is of an earlier stream: what was in that one is lost, for this group too.
    said = 'lost'
  end
end
-- How much of the stream lies behind the cursor decides whether the lag is known.
local left = stream.length
if cursor ~= '0-0' then
  left = 0
  local from = cursor
  repeat
    local page = redis.call('XRANGE', KEYS[2], '(' .. from, '+', 'COUNT', 500)
    left = left + #page
    if #page > 0 then
      from = page[#page][1]
    end
  until #page < 500 or left > tonumber(ARGV[4])
end
if left > tonumber(ARGV[4]) and cursor ~= '0-0' then
  redis.call('XGROUP', 'CREATE', KEYS[2], group, cursor)
else
  redis.call('XGROUP', 'CREATE', KEYS[2], group, cursor, 'ENTRIESREAD', decimal(stream['entries-added'] - left))
end
redis.call('HSET', KEYS[3], '#', number, field, number .. '\31' .. cursor .. (said == 'lost' and '\31lost' or ''))
-- What the group lost unread stays known; from where it is counted is not.
local lost = redis.call('HGET', KEYS[3], 'u\31' .. group)
if lost then
  redis.call('HSET', KEYS[3], 'u\31' .. group, string.match(lost, '^%d+') .. '\31\31\31\31')
end
keep(false)
return {0, said, cursor, '1'}
