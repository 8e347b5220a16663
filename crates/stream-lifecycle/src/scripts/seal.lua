-- seal: refuses or allows publishing from now on. ARGV 3: the state.
local refused = guard(false) or denied({{'HSET', KEYS[1], 'f', 'v'}, {'HDEL', KEYS[1], 'f'}})
if refused then
  return refused
end
if (is_open and 'active' or life[4]) == ARGV[3] then
  return {0, 'same'}
end
local now = decimal(now_ms())
redis.call('HSET', KEYS[1], 'state', ARGV[3])
if ARGV[3] == 'sealed' then
  redis.call('HSET', KEYS[1], 'sealed_ms', now)
  redis.call('HDEL', KEYS[1], 'open')
else
  redis.call('HDEL', KEYS[1], 'sealed_ms')
  if life[6] == 'none' then
    redis.call('HSET', KEYS[1], 'open', ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. KEYS[2])
  end
end
return {0, 'changed'}
