-- upsert: writes an entry. ARGV: 1 token of the rebuild that the caller knows of, 2 id, 3 order, 4 version, 5 payload.
local token = building(clock())
if token ~= ARGV[1] then
  return {1, token}
end
if is_gone(ARGV[2], tonumber(ARGV[4])) then
  return {2}
end
local written = put(KEYS[1], KEYS[2], 'count', ARGV[2], ARGV[3], ARGV[4], ARGV[5])
if token ~= '' then
  written = put(KEYS[6], KEYS[7], 'loaded', ARGV[2], ARGV[3], ARGV[4], ARGV[5]) or written
  let_expire()
end
return {written and 0 or 2}
