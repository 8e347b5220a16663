-- commit: puts a rebuild in the place of what there was. ARGV: 1 its token, 2 how long removals are kept, 3 how many pages it has.
local now = clock()
if not is_mine(now, ARGV[1], tonumber(ARGV[2])) then
  return {4}
end
if number_in_m('pages') ~= tonumber(ARGV[3]) then
  forget_build()
  return {4}
end
local loaded = number_in_m('loaded')
redis.call('UNLINK', KEYS[1], KEYS[2])
if loaded > 0 then
  redis.call('RENAME', KEYS[6], KEYS[1])
  redis.call('RENAME', KEYS[7], KEYS[2])
  redis.call('PERSIST', KEYS[1])
  redis.call('PERSIST', KEYS[2])
end
local epoch = decimal(math.max(number_in_m('epoch') + 1, now))
redis.call('HSET', KEYS[5], 'epoch', epoch, 'built', decimal(now), 'count', decimal(loaded))
forget_build()
clear_old(now, tonumber(ARGV[2]), 1000)
return {0, epoch}
