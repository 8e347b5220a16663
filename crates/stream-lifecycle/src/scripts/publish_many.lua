-- publish_many: adds entries in order; each has an outcome of its own. ARGV 3…: for each, how many arguments, how the stream is trimmed, and
-- the fields.
local refused = guard(true) or may_keep()
if refused then
  return refused
end
local outcomes = {}
local at, added = 3, false
while at <= #ARGV do
  local last = at + tonumber(ARGV[at])
  local id, failure = add(at + 1, last)
  outcomes[#outcomes + 1] = failure or {0, id}
  added = added or id
  at = last + 1
end
if added then
  keep(true)
end
return {0, outcomes}
