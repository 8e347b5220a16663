-- page: a page of a stream's entries, one read after the other, so that no more is sent than was asked for: only Redis knows how large they are.
-- KEYS: stream. ARGV: XRANGE or XREVRANGE, from, to, the most entries, after how many bytes of entries no further one is read, how many bytes of names and values are
-- given, the longest value that is given, 1 where fields are wanted at all.
-- Returns the entries, each with its id, its bytes, and names and values by turns, for a value that is not given how long it is; and whether the end was reached.
local stream = KEYS[1]
local command, from, to = take(), take(), take()
local most, bytes, room, longest = tonumber(take()), tonumber(take()), tonumber(take()), tonumber(take())
local is_wanted = take() == '1'
local denied = first_denied({{command, stream, from, to}})
if denied then
  return {'denied', denied}
end
local entries, read, given = {}, 0, 0
while #entries < most and read < bytes do
  local found = redis.call(command, stream, from, to, 'COUNT', '1')[1]
  if not found then
    return {'ok', entries, 'end'}
  end
  local id, fields = found[1], found[2]
  local entry, before = {id, 0}, read
  for at = 1, #fields, 2 do
    local name, value = fields[at], fields[at + 1]
    local left = room - given
    read = read + #name + #value
    if is_wanted then
      local is_given = #value <= longest and #value <= left
      given = given + #name + (is_given and #value or 0)
      entry[#entry + 1] = name
      entry[#entry + 1] = is_given and value or #value
    end
  end
  entry[2] = read - before
  entries[#entries + 1] = entry
  from = '(' .. id
end
return {'ok', entries, 'more'}
