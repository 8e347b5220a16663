-- abandon: gives a rebuild up. ARGV: 1 its token.
if building(clock()) == ARGV[1] then
  forget_build()
end
redis.call('UNLINK', KEYS[6], KEYS[7])
return {0}
