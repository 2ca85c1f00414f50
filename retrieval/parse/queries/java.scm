; java.scm - what Java defines and uses.
(line_comment) @comment
(block_comment) @comment
(package_declaration) @import
(import_declaration (_) @ref.import) @import

(class_declaration name: (identifier) @name) @def.class
(interface_declaration name: (identifier) @name) @def.class
(record_declaration name: (identifier) @name) @def.class
(annotation_type_declaration name: (identifier) @name) @def.class
(enum_declaration name: (identifier) @name) @def.type
(enum_constant name: (identifier) @name) @def.constant
(method_declaration name: (identifier) @name) @def.method
(annotation_type_element_declaration name: (identifier) @name) @def.method
(constructor_declaration name: (identifier) @name) @def.method
(method_declaration (modifiers (marker_annotation name: (identifier) @call.name) @mark) name: (identifier) @name) @def.method
(method_declaration (modifiers (annotation name: (identifier) @call.name) @mark) name: (identifier) @name) @def.method
(method_declaration (modifiers (annotation name: (identifier) @call.name arguments: (annotation_argument_list (string_literal) @call.text)) @mark) name: (identifier) @name) @def.method
(method_declaration (modifiers (annotation name: (identifier) @call.name arguments: (annotation_argument_list (element_value_pair value: (string_literal) @call.text))) @mark) name: (identifier) @name) @def.method
(field_declaration declarator: (variable_declarator name: (identifier) @name)) @def.variable
(constant_declaration declarator: (variable_declarator name: (identifier) @name)) @def.constant

(method_invocation name: (identifier) @ref.call)
(object_creation_expression type: (type_identifier) @ref.call)
(type_identifier) @ref.type
(method_reference (identifier) @ref.read)
(argument_list (identifier) @ref.read)
