
-- What `keep` needs, for `denied`.
local function may_keep()
  if life and life[6] ~= 'none' then
    return denied({{'HSET', KEYS[1], 'f', 'v'}, {'PEXPIREAT', KEYS[2], '1'}, {'PEXPIREAT', KEYS[3], '1'},
      {'PEXPIREAT', KEYS[4], '1'}, {'PEXPIREAT', KEYS[5], '1'}})
  end
end

-- Gives the keys of the generation their expiry, together. `extends`: the write is one that a sliding expiry counts from.
local function keep(extends)
  if not life or life[6] == 'none' then
    return
  end
  if extends and life[6] == 'sliding' then
    life[5] = decimal(math.max(now_ms() + life[7], tonumber(life[5])))
    redis.call('HSET', KEYS[1], 'expires_ms', life[5])
  end
  for index = 2, 5 do
    redis.call('PEXPIREAT', KEYS[index], life[5])
  end
end
