-- recreate: makes the next generation after one that is destroyed or expired.
-- KEYS 6-9: stream, metadata and records of the earlier generation.
if is_open or life[1] == ARGV[1] and life[2] == KEYS[2] and life[3] == ARGV[2] then
  return again()
end
if not life[1] then
  return {1}
end
if life[1] ~= ARGV[13] or life[3] ~= ARGV[14] then
  return {2, identity()}
end
local is_destroyed = life[4] == 'destroyed'
if not is_destroyed and not has_expired() then
  return {12, identity()}
end
local rows = {{KEYS[3], 'none'}, {KEYS[4], 'none'}, {KEYS[5], 'none'}, {KEYS[7], 'hash'}, {KEYS[8], 'hash'}, {KEYS[9], 'hash'}}
-- What plain clients put under a name since the generation ended is not ours to remove: only the generation's own stream has its expiry.
local is_left = not is_destroyed and redis.call('PEXPIRETIME', KEYS[6]) == tonumber(life[5])
if not is_left or KEYS[2] ~= KEYS[6] then
  rows[#rows + 1] = {KEYS[2], 'none'}
end
local refused = conflict(rows) or may_be_born()
  or denied({{'UNLINK', KEYS[6]}, {'UNLINK', KEYS[7]}, {'UNLINK', KEYS[8]}, {'UNLINK', KEYS[9]}})
if refused then
  return refused
end
if is_left then
  redis.call('UNLINK', KEYS[6])
end
redis.call('UNLINK', KEYS[7], KEYS[8], KEYS[9])
return birth()
