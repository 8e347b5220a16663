-- attempts: reads what is recorded of entries. ARGV: 3 group, 4… ids.
local refused = guard(false) or conflict({{KEYS[3], 'hash'}}) or denied({{'HMGET', KEYS[3], 'f'}})
if refused then
  return refused
end
local fields = {}
for index = 4, #ARGV do
  fields[#fields + 1] = 'a\31' .. ARGV[3] .. '\31' .. ARGV[index]
end
local told = {}
for index, found in ipairs(redis.call('HMGET', KEYS[3], unpack(fields))) do
  told[index] = found and {string.match(found, '^(%d+)\31(%d+)$')} or {}
end
return {0, decimal(now_ms()), told}
