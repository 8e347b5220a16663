-- The common case first, before anything is defined: nothing has to be asked, the windows have not turned, and the key is new. Whatever
-- else happens is found out below.
if redis.call('HGET', KEYS[1], 'open') == ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. KEYS[2] then
  local time = redis.call('TIME')
  local window = math.floor((time[1] * 1000 + math.floor(time[2] / 1000)) / ARGV[5])
  local at, other = KEYS[4 + window % 2], KEYS[5 - window % 2]
  local known = redis.pcall('HMGET', at, '\31', ARGV[3])
  if known[1] and not known[2] and tonumber(known[1]) == window and redis.pcall('HGET', other, ARGV[3]) == false
    and redis.acl_check_cmd('HSET', at, 'f', 'v') then
    local id = redis.pcall('XADD', KEYS[2], 'NOMKSTREAM', unpack(ARGV, 6))
    if type(id) == 'string' then
      redis.call('HSET', at, ARGV[3], ARGV[4] .. id)
      return {0, 'added', id}
    end
  end
end

