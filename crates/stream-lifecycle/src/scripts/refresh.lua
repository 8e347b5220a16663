-- refresh: a sign of life of a registered consumer. ARGV: 3 group, 4 consumer, 5 token, 6 member epoch.
local refused = guard(false) or conflict({{KEYS[3], 'hash'}}) or fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6]) or may_keep()
if refused then
  return refused
end
redis.call('HSET', KEYS[3], 'k\31' .. ARGV[3] .. '\31' .. ARGV[4], decimal(now_ms()))
keep(false)
return {0}
