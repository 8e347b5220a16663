-- read: the first entries. KEYS: z, h, m. ARGV: 1 the largest order, 2 how many.
local known = redis.call('HMGET', KEYS[3], 'epoch', 'built', 'count')
if not known[1] then
  return {5}
end
local count = redis.call('ZCARD', KEYS[1])
if count ~= tonumber(known[3]) or redis.call('HLEN', KEYS[2]) ~= count then
  return {6}
end
if count == 0 then
  return {7}
end
local time = redis.call('TIME')
local age = time[1] * 1000 + math.floor(time[2] / 1000) - tonumber(known[2])
local sorted = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
local ids = {}
for index = 1, #sorted, 2 do
  ids[#ids + 1] = sorted[index]
end
local values = #ids > 0 and redis.call('HMGET', KEYS[2], unpack(ids)) or {}
for index = 1, #ids do
  if not values[index] then
    return {6}
  end
end
return {0, known[1], string.format('%.0f', age), sorted, values}
