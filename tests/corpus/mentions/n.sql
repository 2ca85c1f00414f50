-- @no g_level
SELECT limit, "g_level" FROM conf WHERE name = 'it''s' AND g_level = 3;
