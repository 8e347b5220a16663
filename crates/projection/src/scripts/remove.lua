-- remove: takes an entry out and keeps it out. ARGV: 1 token of the rebuild that the caller knows of, 2 id, 3 version, 4 how long removals
-- are kept.
local now = clock()
local token = building(now)
if token ~= ARGV[1] then
  return {1, token}
end
local written = false
if not is_gone(ARGV[2], tonumber(ARGV[3])) then
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[3])
  redis.call('ZADD', KEYS[4], decimal(now), ARGV[2])
  written = true
end
written = take(KEYS[1], KEYS[2], 'count', ARGV[2], ARGV[3]) or written
if token ~= '' then
  written = take(KEYS[6], KEYS[7], 'loaded', ARGV[2], ARGV[3]) or written
end
clear_old(now, tonumber(ARGV[4]), 10)
return {written and 0 or 2}
