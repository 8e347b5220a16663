
-- Adds an entry whose fields are the arguments from `first` on. Answers its id, or what the script is to answer instead.
local function add(first)
  local id
  if life[8] == '' then
    id = redis.pcall('XADD', KEYS[2], 'NOMKSTREAM', '*', unpack(ARGV, first))
  else
    id = redis.pcall('XADD', KEYS[2], 'NOMKSTREAM', 'MAXLEN', life[9] == 'exact' and '=' or '~', life[8], '*', unpack(ARGV, first))
  end
  if type(id) == 'table' then
    return nil, conflict({{KEYS[2], 'stream'}}) or denied({{'XADD', KEYS[2], '*', 'f', 'v'}}) or id
  end
  if not id then
    return nil, {8}
  end
  return id
end
