-- read: entries in a range. KEYS: z, h, m. ARGV: 1 the largest order, 2 how many, 3 and 4 order and id of the place behind which they
-- stand; nothing if it is the beginning.
local function stands_before(id, other)
  for index = 1, math.min(#id, #other) do
    local byte, of_other = string.byte(id, index), string.byte(other, index)
    if byte ~= of_other then
      return byte < of_other
    end
  end
  return #id < #other
end

-- How many entries stand up to a place. Whether one stands there is not known, so it is searched for among those of its order.
local function up_to(order, id)
  local before = redis.call('ZCOUNT', KEYS[1], '-inf', '(' .. order)
  local low, high = 0, redis.call('ZCOUNT', KEYS[1], order, order)
  while low < high do
    local middle = math.floor((low + high) / 2)
    local rank = before + middle
    if stands_before(id, redis.call('ZRANGE', KEYS[1], rank, rank)[1]) then
      high = middle
    else
      low = middle + 1
    end
  end
  return before + low
end

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
local sorted
if ARGV[3] == '' then
  sorted = redis.call('ZRANGE', KEYS[1], '-inf', ARGV[1], 'BYSCORE', 'LIMIT', 0, ARGV[2], 'WITHSCORES')
else
  local first = up_to(ARGV[3], ARGV[4])
  local last = math.min(first + ARGV[2], redis.call('ZCOUNT', KEYS[1], '-inf', ARGV[1])) - 1
  sorted = first <= last and redis.call('ZRANGE', KEYS[1], first, last, 'WITHSCORES') or {}
end
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
