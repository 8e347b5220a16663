
-- Adds an entry: the arguments from `first` to `last` are how the stream is trimmed, and the fields. Answers its id, or what the script is
-- to answer instead.
local function add(first, last)
  local id = redis.pcall('XADD', KEYS[2], 'NOMKSTREAM', unpack(ARGV, first, last))
  if type(id) == 'table' then
    return nil, conflict({{KEYS[2], 'stream'}}) or denied({{'XADD', KEYS[2], '*', 'f', 'v'}}) or {22, id.err}
  end
  if not id then
    return nil, {8}
  end
  return id
end
