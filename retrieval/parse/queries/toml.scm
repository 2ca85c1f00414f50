; toml.scm - tables and the keys at the top.
(comment) @comment
(table . (_) @name) @def.module
(table_array_element . (_) @name) @def.module
(document (pair . (_) @name) @def.variable)
