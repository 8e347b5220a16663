-- add_once: adds an entry unless its key is known. ARGV: 3 key, 4 digest of the content, 5 window, 6… how the stream is trimmed, and the fields.
local refused = guard(true)
if refused then
  return refused
end
local first = redis.pcall('HMGET', KEYS[4], '\31', ARGV[3])
local second = redis.pcall('HMGET', KEYS[5], '\31', ARGV[3])
if first.err or second.err then
  return conflict({{KEYS[4], 'hash'}, {KEYS[5], 'hash'}}) or denied({{'HMGET', KEYS[4], 'f'}, {'HMGET', KEYS[5], 'f'}})
    or first.err and first or second
end
-- A window never goes back, even if the server's clock does.
local window = math.max(math.floor(now_ms() / ARGV[5]), tonumber(first[1] or 0), tonumber(second[1] or 0))
for _, found in ipairs({first, second}) do
  -- A record counts in the window it was made in and in the next.
  if found[2] and found[1] and tonumber(found[1]) >= window - 1 then
    local id = string.sub(found[2], 33)
    if string.sub(found[2], 1, 32) ~= ARGV[4] then
      return {14, id}
    end
    return {0, 'duplicate', id}
  end
end
local at = KEYS[4 + window % 2]
local mark = window % 2 == 0 and first[1] or second[1]
local is_stale = mark ~= decimal(window)
refused = denied({{'HSET', at, 'f', 'v'}}) or is_stale and denied({{'UNLINK', at}}) or may_keep()
if refused then
  return refused
end
local id, failure = add(6, #ARGV)
if failure then
  return failure
end
-- The entry first, its record second.
if is_stale then
  redis.call('UNLINK', at)
  redis.call('HSET', at, '\31', decimal(window), ARGV[3], ARGV[4] .. id)
else
  redis.call('HSET', at, ARGV[3], ARGV[4] .. id)
end
keep(true)
return {0, 'added', id}
