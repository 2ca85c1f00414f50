; inherits: javascript
; typescript.scm - what TypeScript adds.
(interface_declaration name: (_) @name) @def.class
(type_alias_declaration name: (_) @name) @def.type
(enum_declaration name: (_) @name) @def.type
(abstract_class_declaration name: (_) @name) @def.class
(export_statement declaration: (interface_declaration name: (_) @name)) @def.class
(export_statement declaration: (type_alias_declaration name: (_) @name)) @def.type
(export_statement declaration: (enum_declaration name: (_) @name)) @def.type
(export_statement declaration: (abstract_class_declaration name: (_) @name)) @def.class
(abstract_method_signature name: (_) @name) @def.method
(method_signature name: (_) @name) @def.method
(property_signature name: (_) @name type: (type_annotation (function_type))) @def.method
(enum_body (enum_assignment name: (_) @name) @def.constant)
(enum_body name: (_) @name @def.constant)
(program (ambient_declaration (lexical_declaration (variable_declarator name: (identifier) @name))) @def.variable)
(program (ambient_declaration (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable)
(internal_module body: (statement_block (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name))) @def.variable))
(function_signature name: (_) @name) @def.function
(internal_module name: (_) @name body: (_) @open) @def.module @open
(public_field_definition name: (_) @name value: (arrow_function)) @def.method
(class_body (decorator (call_expression function: (identifier) @call.name arguments: (arguments . (string) @call.text))) @mark . (method_definition name: (_) @name) @def.method)
(type_identifier) @ref.type
