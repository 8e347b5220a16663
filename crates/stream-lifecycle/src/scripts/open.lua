-- open: reads whether and as what a shard exists. KEYS: the lifecycle only, since the others are not known yet.
local life = redis.call('HMGET', KEYS[1], 'generation', 'physical_key', 'incarnation', 'state', 'expires_ms', 'retention')
if not life[1] then
  return {1}
end
local state = life[4]
if state ~= 'destroyed' and life[5] then
  local time = redis.call('TIME')
  if time[1] * 1000 + math.floor(time[2] / 1000) >= tonumber(life[5]) then
    state = 'expired'
  end
end
return {0, state, life[5] or '', life[6] or '', life[1], life[2] or '', life[3] or ''}
