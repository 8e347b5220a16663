-- seal: refuses or allows publishing from now on. ARGV 3: the state.
local refused = guard(false) or denied({{'HSET', KEYS[1], 'f', 'v'}, {'HDEL', KEYS[1], 'f'}})
if refused then
  return refused
end
if life[4] == ARGV[3] then
  return {0, 'same'}
end
redis.call('HSET', KEYS[1], 'state', ARGV[3])
if ARGV[3] == 'sealed' then
  redis.call('HSET', KEYS[1], 'sealed_ms', decimal(now_ms()))
else
  redis.call('HDEL', KEYS[1], 'sealed_ms')
end
return {0, 'changed'}
