; bash.scm - what shell scripts define and use.
(comment) @comment
(function_definition name: (word) @name) @def.function
(program (variable_assignment name: (variable_name) @name) @def.variable)
(program (declaration_command (variable_assignment name: (variable_name) @name)) @def.variable)
(command name: (command_name (word) @ref.call))
(command name: (command_name (word) @call.name) . argument: (_) @ref.import) @import
(simple_expansion (variable_name) @ref.read)
(expansion (variable_name) @ref.read)
