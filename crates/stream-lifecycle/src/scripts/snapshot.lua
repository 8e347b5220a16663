-- snapshot: reads all entries, or none if there are too many. ARGV 3: how many at most.
local refused = guard(false) or conflict({{KEYS[2], 'stream'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {8}
end
local length = redis.call('XLEN', KEYS[2])
if length > tonumber(ARGV[3]) then
  return {15, decimal(length)}
end
return {0, redis.call('XRANGE', KEYS[2], '-', '+')}
