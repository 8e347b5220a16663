-- standing: asks whether the generation is alive and its stream is there. Told to a reader whose group is gone.
local refused = guard(false) or unusable()
if refused then
  return refused
end
return {0}
