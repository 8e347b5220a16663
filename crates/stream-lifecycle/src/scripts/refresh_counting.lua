-- refresh_counting: a sign of life of a group's reader, which counts what the group lost unread. ARGV: 3 group, 4 consumer, 5 token,
-- 6 member epoch, 7 how many entries the reader was given since the last time, or nothing.
local refused = guard(false) or unusable() or fenced(ARGV[3], ARGV[4], ARGV[5], ARGV[6])
  or denied({{'HSET', KEYS[3], 'f', 'v'}, {'HMGET', KEYS[3], 'f'}, {'XINFO', 'GROUPS', KEYS[2]}, {'XINFO', 'STREAM', KEYS[2]}}) or may_keep()
if refused then
  return refused
end
local group = group_of(ARGV[3])
if not group then
  return {16, ARGV[3]}
end
local last = group['last-delivered-id']

-- How many of all entries that were ever added the group has behind it: given to it, or gone. Known at once where it has read all of the
-- stream, or nothing of it; elsewhere it is not counted, and the next time does.
local function behind()
  local stream = fields_of(redis.call('XINFO', 'STREAM', KEYS[2]))
  if stream.length == 0 or not is_after(stream['last-entry'][1], last) then
    return stream['entries-added']
  end
  if is_after(stream['first-entry'][1], last) then
    return stream['entries-added'] - stream.length
  end
end

local field = 'u\31' .. ARGV[3]
local noted = redis.call('HMGET', KEYS[3], '#', field)
local number = noted[1] or '1'
-- What is known: lost so far; of which stream; how many were behind; how many were given since then; up to where.
local lost, of, passed, given, position = string.match(noted[2] or '', '^(%d+)\31(%d*)\31(%d*)\31(%d*)\31(.*)$')
local now = behind()
-- Whoever does not know what was given knows it all the same where the group stands as it stood.
local more = tonumber(ARGV[7]) or position == last and 0
if of ~= number or not more then
  passed, given = now and decimal(now) or '', 0
else
  given = tonumber(given) + more
  if now then
    if passed ~= '' then
      lost = tonumber(lost) + math.max(0, now - passed - given)
    end
    passed, given = decimal(now), 0
  end
end
lost = decimal(lost or 0)
redis.call('HSET', KEYS[3], 'k\31' .. ARGV[3] .. '\31' .. ARGV[4], decimal(now_ms()),
  field, lost .. '\31' .. number .. '\31' .. passed .. '\31' .. decimal(given) .. '\31' .. last)
keep(false)
return {0, lost}
