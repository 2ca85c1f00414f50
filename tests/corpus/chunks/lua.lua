local json = require("json")

local M = {}
local MAX_TRIES = 3

-- Reads the settings.
function M.load(path)
    return json.decode(read_all(path))
end

local function read_all(path)
    return io.open(path):read("a")
end

function M:save(path)
    write_file(path, json.encode(self))
end

M.reset = function()
    M.tries = MAX_TRIES
end

describe("settings", function()
    it("loads", function()
        M.load("x")
    end)
end)

return M
