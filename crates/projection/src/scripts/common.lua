-- Keys of every script that writes: 1 z (id → order), 2 h (id → version and payload), 3 d (id → version removed), 4 t (id → time of
-- removal), 5 m (what is known of the namespace and of its rebuild), and 6, 7: z and h of the rebuild that the caller knows of.
local function decimal(number)
  return string.format('%.0f', number)
end

local function clock()
  local time = redis.call('TIME')
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

local function number_in_m(field)
  return tonumber(redis.call('HGET', KEYS[5], field) or '0') or 0
end

local function forget_build()
  redis.call('HDEL', KEYS[5], 'token', 'until', 'lease', 'begun', 'pages', 'loaded')
end

-- The token of the rebuild under way, or nothing. One whose lease ran out is forgotten, so that it never comes back.
local function building(now)
  local token = redis.call('HGET', KEYS[5], 'token') or ''
  if token ~= '' and number_in_m('until') <= now then
    forget_build()
    return ''
  end
  return token
end

local function version_of(value)
  return tonumber(string.match(value, '^(%d+):') or '-1')
end

local function is_gone(id, version)
  return tonumber(redis.call('HGET', KEYS[3], id) or '-1') >= version
end

-- Writes an entry unless it is known in this version or a later one. `counter` is the field of m that counts the entries.
local function put(z, h, counter, id, order, version, payload)
  local known = redis.call('HGET', h, id)
  if known and version_of(known) >= tonumber(version) then
    return false
  end
  redis.call('HSET', h, id, version .. ':' .. payload)
  redis.call('ZADD', z, order, id)
  if not known then
    redis.call('HINCRBY', KEYS[5], counter, 1)
  end
  return true
end

-- Takes an entry out unless it is known in a later version.
local function take(z, h, counter, id, version)
  local known = redis.call('HGET', h, id)
  if not known or version_of(known) > tonumber(version) then
    return false
  end
  redis.call('HDEL', h, id)
  redis.call('ZREM', z, id)
  redis.call('HINCRBY', KEYS[5], counter, -1)
  return true
end

-- Nobody has to clear away what a rebuild leaves behind that is never committed.
local function let_expire()
  local lease = number_in_m('lease')
  redis.call('PEXPIRE', KEYS[6], decimal(lease * 3))
  redis.call('PEXPIRE', KEYS[7], decimal(lease * 3))
end

-- A rebuild shows that somebody is at work on it.
local function prolong(now)
  redis.call('HSET', KEYS[5], 'until', decimal(now + number_in_m('lease')))
  let_expire()
end

-- Forgets removals that are so old that no earlier version is still on its way.
local function clear_old(now, age, most)
  for _, id in ipairs(redis.call('ZRANGE', KEYS[4], '-inf', '(' .. decimal(now - age), 'BYSCORE', 'LIMIT', 0, most)) do
    redis.call('ZREM', KEYS[4], id)
    redis.call('HDEL', KEYS[3], id)
  end
end

-- Whether the rebuild is the caller's, is complete so far, and began so late that no removal since then is forgotten.
local function is_mine(now, token, age)
  if building(now) ~= token then
    return false
  end
  local loaded = number_in_m('loaded')
  if redis.call('ZCARD', KEYS[6]) ~= loaded or redis.call('HLEN', KEYS[7]) ~= loaded or now - number_in_m('begun') >= age then
    forget_build()
    return false
  end
  return true
end
