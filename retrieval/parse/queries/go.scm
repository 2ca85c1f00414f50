; go.scm - what Go defines and uses.
(comment) @comment
(package_clause) @import
(import_declaration) @import
(import_spec path: (_) @ref.import)

(function_declaration name: (identifier) @name) @def.function
(method_declaration receiver: (parameter_list (parameter_declaration type: (_) @parent)) name: (field_identifier) @name) @def.method
(method_declaration name: (field_identifier) @name) @def.method
(method_elem name: (field_identifier) @name) @def.method
(type_declaration (type_spec name: (type_identifier) @name type: (interface_type))) @def.class
(type_declaration (type_spec name: (type_identifier) @name)) @def.type
(type_declaration (type_alias name: (type_identifier) @name)) @def.type
(const_spec name: (identifier) @name) @def.constant
(source_file (var_declaration (var_spec name: (identifier) @name)) @def.variable)
(source_file (var_declaration (var_spec_list (var_spec name: (identifier) @name) @def.variable)))
(call_expression function: (_) @call.name arguments: (argument_list . (interpreted_string_literal) @call.text)) @def.call

(call_expression function: (_) @ref.call)
(type_identifier) @ref.type
(argument_list (identifier) @ref.read)
(argument_list (selector_expression field: (field_identifier) @ref.read))
(keyed_element (literal_element (identifier) @ref.read))
