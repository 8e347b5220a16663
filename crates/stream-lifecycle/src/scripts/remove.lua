-- remove: deletes entries. ARGV 3…: their ids.
local refused = guard(false) or conflict({{KEYS[2], 'stream'}})
if refused then
  return refused
end
if kind(KEYS[2]) == 'none' then
  return {8}
end
return {0, decimal(redis.call('XDEL', KEYS[2], unpack(ARGV, 3)))}
