-- begin: begins a rebuild. ARGV: 1 its token, 2 its lease.
local types = {'zset', 'hash', 'hash', 'zset', 'hash'}
for index, wanted in ipairs(types) do
  local found = redis.call('TYPE', KEYS[index]).ok
  -- The names are the projection's own, and all of it can be built again.
  if found ~= 'none' and found ~= wanted then
    redis.call('UNLINK', KEYS[index])
  end
end
local now = clock()
local other = building(now)
if other == ARGV[1] then
  -- Said again, since the answer was lost.
  return {0}
end
if other ~= '' then
  return {3, decimal(number_in_m('until') - now)}
end
redis.call('HSET', KEYS[5], 'token', ARGV[1], 'until', decimal(now + ARGV[2]), 'lease', ARGV[2], 'begun', decimal(now), 'pages', '0', 'loaded', '0')
return {0}
