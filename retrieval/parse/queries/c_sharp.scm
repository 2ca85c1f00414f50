; c_sharp.scm - what C# defines and uses.
(comment) @comment
(using_directive (_) @ref.import) @import
(namespace_declaration name: (_) @name body: (declaration_list) @open) @def.module @open
(file_scoped_namespace_declaration) @import

(class_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.class
(struct_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.type
(enum_member_declaration name: (identifier) @name) @def.constant
(delegate_declaration name: (identifier) @name) @def.type
(method_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method
(property_declaration name: (identifier) @name) @def.variable
(local_function_statement name: (identifier) @name) @def.function
(method_declaration (attribute_list (attribute name: (identifier) @call.name)) @mark name: (identifier) @name) @def.method
(method_declaration (attribute_list (attribute name: (identifier) @call.name (attribute_argument_list (attribute_argument (string_literal) @call.text)))) @mark name: (identifier) @name) @def.method
(field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable
(event_field_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable
(event_declaration name: (identifier) @name) @def.variable
(expression_statement (invocation_expression function: (_) @call.name arguments: (argument_list . (argument (string_literal) @call.text)))) @def.call

(invocation_expression function: (_) @ref.call)
(object_creation_expression type: (identifier) @ref.call)
(base_list (identifier) @ref.type)
(parameter type: (identifier) @ref.type)
(variable_declaration type: (identifier) @ref.type)
(generic_name (identifier) @ref.type)
(argument (identifier) @ref.read)
