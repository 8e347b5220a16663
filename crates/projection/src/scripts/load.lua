-- load: a page of a rebuild. ARGV: 1 its token, 2 how long removals are kept, 3 number of the page, 4… id, order, version, payload of each.
local now = clock()
if not is_mine(now, ARGV[1], tonumber(ARGV[2])) then
  return {4}
end
local pages, page = number_in_m('pages'), tonumber(ARGV[3])
if page == pages then
  return {0}
end
if page ~= pages + 1 then
  forget_build()
  return {4}
end
for index = 4, #ARGV, 4 do
  if not is_gone(ARGV[index], tonumber(ARGV[index + 2])) then
    put(KEYS[6], KEYS[7], 'loaded', ARGV[index], ARGV[index + 1], ARGV[index + 2], ARGV[index + 3])
  end
end
redis.call('HSET', KEYS[5], 'pages', ARGV[3])
prolong(now)
return {0}
