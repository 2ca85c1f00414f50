; inherits: c
; cpp.scm - what C++ adds.
(namespace_definition name: (_) @name body: (declaration_list) @open) @def.module @open
(namespace_definition body: (declaration_list) @open) @open
(class_specifier name: (_) @name body: (_)) @def.class
(struct_specifier name: (_) @name body: (_)) @def.class
(template_declaration (class_specifier name: (_) @name body: (_))) @def.class
(template_declaration (struct_specifier name: (_) @name body: (_))) @def.class
(template_declaration (function_definition declarator: (_) @name)) @def.function
(field_declaration declarator: (function_declarator declarator: (_) @name)) @def.method
(field_declaration_list (declaration declarator: (operator_cast) @name) @def.method)
(field_declaration_list (declaration declarator: (function_declarator declarator: (_) @name)) @def.method)
(alias_declaration name: (type_identifier) @name) @def.type
(concept_definition name: (identifier) @name) @def.type
(using_declaration) @import
(qualified_identifier scope: (namespace_identifier) @ref.type)
