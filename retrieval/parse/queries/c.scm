; c.scm - what C defines and uses. Names are found through their declarators.
(comment) @comment
(preproc_include path: (_) @ref.import) @import
(preproc_if) @open
(preproc_ifdef) @open
(preproc_else) @open
(preproc_elif) @open
(linkage_specification body: (declaration_list) @open) @open

(function_definition declarator: (_) @name) @def.function
(preproc_def name: (identifier) @name) @def.macro
(preproc_function_def name: (identifier) @name) @def.macro
(struct_specifier name: (type_identifier) @name body: (_)) @def.type
(union_specifier name: (type_identifier) @name body: (_)) @def.type
(enum_specifier name: (type_identifier) @name body: (_)) @def.type
(type_definition declarator: (_) @name) @def.type
(enumerator name: (identifier) @name) @def.constant
(declaration declarator: (init_declarator declarator: (_) @name)) @def.variable
(declaration declarator: [(identifier) (array_declarator)] @name) @def.variable
(declaration declarator: (pointer_declarator declarator: [(identifier) (array_declarator)]) @name) @def.variable
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: [(identifier) (array_declarator)])) @name) @def.variable
; pointers to functions: the name is in parentheses
(declaration declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(identifier) (array_declarator)]))) @name) @def.variable
(declaration declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(identifier) (array_declarator)])))) @name) @def.variable
(declaration declarator: (pointer_declarator declarator: (pointer_declarator declarator: (function_declarator declarator: (parenthesized_declarator (pointer_declarator declarator: [(identifier) (array_declarator)]))))) @name) @def.variable

(expression_statement (call_expression function: (identifier) @call.name arguments: (argument_list) @call.text) (MISSING ";")) @def.call

(call_expression function: (_) @ref.call)
(type_identifier) @ref.type
(argument_list (identifier) @ref.read)
(initializer_list (identifier) @ref.read)
(initializer_pair value: (identifier) @ref.read)
(pointer_expression argument: (identifier) @ref.read)
(preproc_ifdef name: (identifier) @ref.read)
