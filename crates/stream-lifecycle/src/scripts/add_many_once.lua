-- add_many_once: adds those entries whose keys are not known, in order; each has an outcome of its own. ARGV: 3 window, 4 how many; for each
-- its key; then for each its digest, how many arguments, how the stream is trimmed, and the fields.
local refused = guard(true)
if refused then
  return refused
end
local count = tonumber(ARGV[4])
local first = redis.pcall('HMGET', KEYS[4], '\31', unpack(ARGV, 5, 4 + count))
local second = redis.pcall('HMGET', KEYS[5], '\31', unpack(ARGV, 5, 4 + count))
if first.err or second.err then
  return conflict({{KEYS[4], 'hash'}, {KEYS[5], 'hash'}}) or denied({{'HMGET', KEYS[4], 'f'}, {'HMGET', KEYS[5], 'f'}})
    or first.err and first or second
end
-- A window never goes back, even if the server's clock does.
local window = math.max(math.floor(now_ms() / ARGV[3]), tonumber(first[1] or 0), tonumber(second[1] or 0))
local at = KEYS[4 + window % 2]
local mark = window % 2 == 0 and first[1] or second[1]
local is_stale = mark ~= decimal(window)
refused = denied({{'HSET', at, 'f', 'v'}}) or is_stale and denied({{'UNLINK', at}}) or may_keep()
if refused then
  return refused
end

-- A record counts in the window it was made in and in the next.
local counts_first = first[1] and tonumber(first[1]) >= window - 1
local counts_second = second[1] and tonumber(second[1]) >= window - 1
local records, mine, outcomes = {}, {}, {}
local place = 5 + count
for index = 1, count do
  local key, digest = ARGV[4 + index], ARGV[place]
  local last = place + 1 + tonumber(ARGV[place + 1])
  local known = mine[key] or counts_first and first[index + 1] or counts_second and second[index + 1]
  if not known then
    local id, failure = add(place + 2, last)
    if id then
      mine[key] = digest .. id
      records[#records + 1] = key
      records[#records + 1] = mine[key]
    end
    outcomes[index] = failure or {0, 'added', id}
  elseif string.sub(known, 1, 32) == digest then
    outcomes[index] = {0, 'duplicate', string.sub(known, 33)}
  else
    outcomes[index] = {14, string.sub(known, 33)}
  end
  place = last + 1
end
-- The entries first, their records second.
if #records > 0 then
  if is_stale then
    redis.call('UNLINK', at)
  end
  redis.call('HSET', at, '\31', decimal(window), unpack(records))
  keep(true)
end
return {0, outcomes}
