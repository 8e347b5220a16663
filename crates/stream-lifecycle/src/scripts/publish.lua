-- publish: adds an entry. ARGV 3…: how the stream is trimmed, and the fields.
local refused = guard(true) or may_keep()
if refused then
  return refused
end
local id, failure = add(3, #ARGV)
if failure then
  return failure
end
keep(true)
return {0, id}
