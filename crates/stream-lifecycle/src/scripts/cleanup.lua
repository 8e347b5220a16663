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
local removed = {}
for _, row in ipairs(redis.call('XINFO', 'CONSUMERS', KEYS[2], ARGV[3])) do
  local consumer = fields_of(row)
  local name = consumer.name
  if #removed < tonumber(ARGV[7]) and consumer.pending == 0 and not stays[name] then
    local seen = redis.call('HGET', KEYS[3], 'k\31' .. ARGV[3] .. '\31' .. name)
    if not seen or now_ms() - seen >= tonumber(ARGV[6]) then
      redis.call('XGROUP', 'DELCONSUMER', KEYS[2], ARGV[3], name)
      redis.call('HDEL', KEYS[3], 'c\31' .. ARGV[3] .. '\31' .. name, 'k\31' .. ARGV[3] .. '\31' .. name)
      removed[#removed + 1] = name
    end
  end
end
return {0, removed}
