-- The common case first, before anything is defined: nothing has to be asked, and the entry is added. Whatever else happens is found out below.
if redis.call('HGET', KEYS[1], 'open') == ARGV[1] .. ' ' .. ARGV[2] .. ' ' .. KEYS[2] then
  local id = redis.pcall('XADD', KEYS[2], 'NOMKSTREAM', unpack(ARGV, 3))
  if type(id) == 'string' then
    return {0, id}
  end
end

