-- peek: reads a few entries. ARGV: 3 first id, 4 how many.
local refused = guard(false) or conflict({{KEYS[2], 'stream'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {8}
end
return {0, redis.call('XRANGE', KEYS[2], ARGV[3], '+', 'COUNT', ARGV[4])}
