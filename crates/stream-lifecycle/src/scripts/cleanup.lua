-- cleanup: removes quiet consumers with nothing pending. ARGV: 3 group, 4 owner, 5 fence, 6 how long one is quiet, 7 how many at most, 8… consumers that stay.
local refused = guard(false) or unusable() or lapsed(ARGV[3], ARGV[4], ARGV[5])
  or denied({{'XGROUP', 'DELCONSUMER', KEYS[2], 'g', 'c'}, {'HDEL', KEYS[3], 'f'}})
if refused then
  return refused
end
if not group_of(ARGV[3]) then
  return {16, ARGV[3]}
end
local stays = {}
for index = 8, #ARGV do
  stays[ARGV[index]] = true
end
local names, pending, idle = {}, {}, {}
for _, row in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[2], ARGV[3])) do
  local consumer = fields_of(row)
  names[#names + 1] = consumer.name
  pending[consumer.name] = consumer.pending
  idle[consumer.name] = consumer.idle
end
-- Registrations outlive a group that was lost; their consumers may never come back.
local prefix = 'k\31' .. ARGV[3] .. '\31'
for _, field in ipairs(redis.call('HKEYS', KEYS[3])) do
  if string.sub(field, 1, #prefix) == prefix then
    local name = string.sub(field, #prefix + 1)
    if not pending[name] then
      names[#names + 1] = name
      pending[name] = 0
    end
  end
end
local removed = {}
for _, name in ipairs(names) do
  if #removed < tonumber(ARGV[7]) and pending[name] == 0 and not stays[name] then
    local seen = redis.call('HGET', KEYS[3], prefix .. name)
    -- Who is not registered is as quiet as Redis knows it to be.
    local quiet = seen and now_ms() - seen or idle[name] or 0
    if quiet >= tonumber(ARGV[6]) then
      redis.call('XGROUP', 'DELCONSUMER', KEYS[2], ARGV[3], name)
      redis.call('HDEL', KEYS[3], 'c\31' .. ARGV[3] .. '\31' .. name, prefix .. name)
      removed[#removed + 1] = name
    end
  end
end
return {0, removed}
