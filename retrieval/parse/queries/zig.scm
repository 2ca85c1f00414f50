; zig.scm - what Zig defines and uses.
(comment) @comment
(variable_declaration (builtin_function (builtin_identifier) @call.name (arguments . (string) @ref.import))) @import
(variable_declaration (field_expression object: (builtin_function (builtin_identifier) @call.name (arguments . (string) @ref.import)))) @import
(variable_declaration (field_expression object: (field_expression object: (builtin_function (builtin_identifier) @call.name (arguments . (string) @ref.import))))) @import
(using_namespace_declaration (builtin_function (builtin_identifier) @call.name (arguments . (string) @ref.import))) @import

(function_declaration name: (identifier) @name) @def.function
(variable_declaration . (identifier) @name (struct_declaration)) @def.type
(variable_declaration . (identifier) @name (union_declaration)) @def.type
(variable_declaration . (identifier) @name (enum_declaration)) @def.type
(variable_declaration . (identifier) @name (opaque_declaration)) @def.type
(variable_declaration . (identifier) @name (error_set_declaration)) @def.type
(source_file (variable_declaration . (identifier) @name) @def.variable)
(struct_declaration (variable_declaration . (identifier) @name) @def.variable)
(test_declaration (string) @name) @def.test
(test_declaration (identifier) @name) @def.test

(call_expression function: (_) @ref.call)
(parameter type: (identifier) @ref.type)
(parameter type: (pointer_type (identifier) @ref.type))
(container_field type: (identifier) @ref.type)
(function_declaration type: (identifier) @ref.type)
(struct_initializer . (identifier) @ref.type)
