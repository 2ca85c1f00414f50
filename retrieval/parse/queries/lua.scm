; lua.scm - what Lua defines and uses.
(comment) @comment
(function_declaration name: (identifier) @name) @def.function
(function_declaration name: (dot_index_expression table: (_) @parent field: (identifier) @name)) @def.function
(function_declaration name: (method_index_expression table: (_) @parent method: (identifier) @name)) @def.method
(assignment_statement (variable_list . name: (identifier) @name) (expression_list . value: (function_definition))) @def.function
(assignment_statement (variable_list . name: (dot_index_expression table: (_) @parent field: (identifier) @name)) (expression_list . value: (function_definition))) @def.function
(variable_declaration (assignment_statement (variable_list . name: (identifier) @name) (expression_list . value: (function_definition)))) @def.function
(chunk (variable_declaration (assignment_statement (variable_list . name: (identifier) @name))) @def.variable)
(field name: (identifier) @name value: (function_definition)) @def.method
(function_call name: (identifier) @call.name arguments: (arguments . (string) @call.text)) @def.call

(function_call name: (_) @ref.call)
(variable_declaration (assignment_statement (expression_list . value: (function_call name: (identifier) @call.name arguments: (arguments . (string) @ref.import))))) @import
