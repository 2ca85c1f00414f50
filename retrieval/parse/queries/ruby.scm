; ruby.scm - what Ruby defines and uses.
(comment) @comment

(method name: (_) @name) @def.function
(singleton_method name: (_) @name) @def.method
(class name: (_) @name) @def.class
(module name: (_) @name) @def.module @open
(module body: (body_statement) @open)
(assignment left: (constant) @name) @def.constant
(alias name: (_) @name) @def.method
; attr_reader :a, :b: those of languages.def's definers, one definition each
(call method: (identifier) @call.name arguments: (argument_list (simple_symbol) @name)) @def.method
(call method: (identifier) @call.name arguments: (argument_list . (string) @call.text)) @def.call
(call method: (identifier) @ref.call)

(class superclass: (superclass (_) @ref.type))
(scope_resolution name: (constant) @ref.type)
(argument_list (constant) @ref.read)
