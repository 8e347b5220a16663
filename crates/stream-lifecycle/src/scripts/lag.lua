
-- What of a stream its groups are measured by: the ids at either end, if it has entries, how many they are, and the id it gave last.
local function extent()
  local fields = fields_of(redis.call('XINFO', 'STREAM', KEYS[2]))
  local first, last = fields['first-entry'], fields['last-entry']
  return {first = first and first[1], last = last and last[1], length = fields.length, given = fields['last-generated-id'],
    added = fields['entries-added']}
end

-- Whether the stream has an entry after what the group was given last.
local function has_unread(group, stream)
  return stream.last and is_after(stream.last, group['last-delivered-id']) or false
end

-- How many entries are not delivered to a group yet; nothing where what Redis says can't be. A group that was given the very last id that there
-- was is behind by none, whatever a counter says that a fail-over has stopped. One that was put beyond it is not: it is never given what is there.
local function lag_of(group, stream)
  local at, lag = group['last-delivered-id'], group.lag
  if stream.length == 0 or at == stream.given then
    return '0'
  end
  if is_after(at, stream.given) then
    return ''
  end
  if stream.first and is_after(stream.first, at) then
    return decimal(stream.length)
  end
  if not lag or lag < 0 or lag > stream.length or (lag > 0) ~= has_unread(group, stream) then
    return ''
  end
  return decimal(lag)
end
