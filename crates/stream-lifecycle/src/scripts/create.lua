-- create: makes the first generation, or takes over a stream that exists.
if is_open or life[1] == ARGV[1] and life[2] == KEYS[2] and life[3] == ARGV[2] then
  return again()
end
if life[1] then
  if life[4] == 'destroyed' then
    return {3, life[1]}
  end
  if has_expired() then
    return {4, life[1], life[5]}
  end
  return {9, identity()}
end
-- A hash of somebody else's, under the name of the lifecycle.
if kind(KEYS[1]) ~= 'none' then
  return {6, KEYS[1], kind(KEYS[1])}
end
local wanted = 'none'
if ARGV[12] == '1' then
  wanted = 'stream'
  if kind(KEYS[2]) == 'none' then
    return {21}
  end
end
local refused = conflict({{KEYS[2], wanted}, {KEYS[3], wanted == 'none' and 'none' or 'hash'},
  {KEYS[4], wanted == 'none' and 'none' or 'hash'}, {KEYS[5], wanted == 'none' and 'none' or 'hash'}}) or may_be_born()
if refused then
  return refused
end
return birth()
