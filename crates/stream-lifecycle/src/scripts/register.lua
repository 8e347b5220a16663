-- register: makes a consumer with its registration and its first sign of life. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch, 7 whether it is the only one.
local refused = guard(false) or unusable()
  or denied({{'XGROUP', 'CREATECONSUMER', KEYS[2], 'g', 'c'}, {'HSET', KEYS[3], 'f', 'v'}}) or may_keep()
if refused then
  return refused
end
local group, consumer, token, epoch = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
if not group_of(group) then
  return {16, group}
end
local field = 'c\31' .. group .. '\31' .. consumer
local found = redis.call('HMGET', KEYS[3], field, 'x\31' .. group)
local since = decimal(now_ms())
if found[1] then
  local known, at, from = string.match(found[1], '^(%d+)\31(%d+)\31(%d+)$')
  if tonumber(token) < tonumber(known) or tonumber(epoch) < tonumber(at) then
    return {17, known, at}
  end
  if token == known and epoch == at then
    since = from
  end
end
if found[2] then
  local sole, at = string.match(found[2], '^(.*)\31(%d+)$')
  if tonumber(epoch) < tonumber(at) or sole ~= '' and sole ~= consumer and epoch == at then
    return {17, '', at}
  end
end
redis.call('XGROUP', 'CREATECONSUMER', KEYS[2], group, consumer)
redis.call('HSET', KEYS[3], field, token .. '\31' .. epoch .. '\31' .. since, 'k\31' .. group .. '\31' .. consumer, decimal(now_ms()))
if ARGV[7] == '1' then
  redis.call('HSET', KEYS[3], 'x\31' .. group, consumer .. '\31' .. epoch)
elseif found[2] then
  redis.call('HSET', KEYS[3], 'x\31' .. group, string.match(found[2], '\31%d+$'))
end
keep(false)
return {0, since}
