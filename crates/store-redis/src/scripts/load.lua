-- load: reads a group and the time in one step.
-- KEYS: metadata, leases. ARGV: the etag that the caller knows (or '').
local metadata, leases = unpack(KEYS)
local denied = first_denied({{'HMGET', metadata}, {'HGET', metadata}, {'EXISTS', metadata}, {'ZRANGE', leases}, {'INFO', 'server'}})
if denied then
  return {'denied', denied}
end
return {'ok', decimal(now_ms()), read_group(metadata, leases, take())}
