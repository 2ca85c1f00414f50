; python.scm - what Python defines and uses.
(comment) @comment
(import_statement name: (dotted_name) @ref.import) @import
(import_statement name: (aliased_import name: (dotted_name) @ref.import)) @import
(import_from_statement module_name: (_) @ref.import) @import
(import_from_statement name: (dotted_name) @ref.read)
(future_import_statement) @import

(function_definition name: (identifier) @name) @def.function
(class_definition name: (identifier) @name) @def.class
(decorated_definition definition: (function_definition name: (identifier) @name)) @def.function
(decorated_definition definition: (class_definition name: (identifier) @name)) @def.class
(decorated_definition
  (decorator (call function: (_) @call.name arguments: (argument_list . (string) @call.text))) @mark
  definition: (function_definition name: (identifier) @name)) @def.function
(expression_statement (assignment left: (identifier) @name)) @def.variable
(expression_statement (assignment left: (pattern_list (identifier) @name))) @def.variable
(type_alias_statement left: (type) @name) @def.type

(call function: (_) @ref.call)
(type (identifier) @ref.type)
(class_definition superclasses: (argument_list [(identifier) (attribute)] @ref.type))
(decorator [(identifier) (attribute)] @ref.call)
(argument_list (identifier) @ref.read)
(keyword_argument value: (identifier) @ref.read)
(pair value: (identifier) @ref.read)
