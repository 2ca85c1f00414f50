; kotlin.scm - what Kotlin defines and uses.
(line_comment) @comment
(block_comment) @comment
(package_header) @import
(import (_) @ref.import) @import

(class_declaration name: (identifier) @name) @def.class
(object_declaration name: (identifier) @name) @def.class
(function_declaration name: (identifier) @name) @def.function
(function_declaration (modifiers (annotation (user_type (identifier) @call.name)) @mark) name: (identifier) @name) @def.function
(function_declaration (modifiers (annotation (constructor_invocation (user_type (identifier) @call.name) (value_arguments (value_argument (string_literal) @call.text)))) @mark) name: (identifier) @name) @def.function
(companion_object name: (identifier) @name) @def.class
(source_file (property_declaration (variable_declaration (identifier) @name)) @def.variable)
(class_body (property_declaration (variable_declaration (identifier) @name)) @def.variable)
(enum_class_body (property_declaration (variable_declaration (identifier) @name)) @def.variable)
(enum_entry (identifier) @name) @def.constant
(class_parameter (identifier) @name) @def.variable
(type_alias type: (identifier) @name) @def.type
(call_expression (call_expression (identifier) @call.name (value_arguments . (value_argument (string_literal) @call.text))) (annotated_lambda)) @def.call

(call_expression . (identifier) @ref.call)
(call_expression . (navigation_expression (identifier) @ref.call .))
(user_type (identifier) @ref.type)
