; scala.scm - what Scala defines and uses.
(comment) @comment
(block_comment) @comment
(package_clause) @import
(import_declaration) @import @ref.import

(class_definition name: (_) @name) @def.class
(object_definition name: (_) @name) @def.class
(trait_definition name: (_) @name) @def.class
(enum_definition name: (_) @name) @def.type
(type_definition name: (_) @name) @def.type
(function_definition name: (_) @name) @def.function
(function_declaration name: (_) @name) @def.function
(template_body (val_definition pattern: (identifier) @name) @def.variable)
(call_expression function: (call_expression function: (identifier) @call.name arguments: (arguments . (string) @call.text))) @def.call

(call_expression function: (_) @ref.call)
(instance_expression (type_identifier) @ref.call)
(type_identifier) @ref.type
