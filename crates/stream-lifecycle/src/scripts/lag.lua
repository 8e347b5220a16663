
-- How many entries are not delivered to a group yet; nothing where what Redis says can't be. `first` and `last`: the ids of the entries at
-- either end of the stream, if it has any.
local function lag_of(group, first, last, length)
  local at, lag = group['last-delivered-id'], group.lag
  if first and is_after(first, at) then
    return decimal(length)
  end
  local is_open = last and is_after(last, at) or false
  if not lag or lag < 0 or lag > length or (lag > 0) ~= is_open then
    return ''
  end
  return decimal(lag)
end
