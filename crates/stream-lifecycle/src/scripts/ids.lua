
local MOST = '18446744073709551615'

-- Whether one decimal number of any length is below another.
local function is_below(one, other)
  if #one ~= #other then
    return #one < #other
  end
  return one < other
end

local function is_after(one, other)
  local ms, seq = string.match(one, '^(%d+)-(%d+)$')
  local other_ms, other_seq = string.match(other, '^(%d+)-(%d+)$')
  if ms ~= other_ms then
    return is_below(other_ms, ms)
  end
  return is_below(other_seq, seq)
end

-- One less than a decimal number of any length above zero.
local function less_one(digits)
  local head, last, zeros = string.match(digits, '^(%d-)([1-9])(0*)$')
  local text = head .. (tonumber(last) - 1) .. string.rep('9', #zeros)
  return string.match(text, '^0*(%d+)$')
end

-- The id just before another.
local function before(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  if seq ~= '0' then
    return ms .. '-' .. less_one(seq)
  end
  if ms ~= '0' then
    return less_one(ms) .. '-' .. MOST
  end
  return '0-0'
end
