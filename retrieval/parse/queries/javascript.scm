; javascript.scm - what JavaScript defines and uses.
(comment) @comment
(import_statement source: (string) @ref.import) @import
(export_statement source: (string) @ref.import) @import
(lexical_declaration (variable_declarator value: (call_expression function: (identifier) @call.name arguments: (arguments . (string) @ref.import)))) @import
(variable_declaration (variable_declarator value: (call_expression function: (identifier) @call.name arguments: (arguments . (string) @ref.import)))) @import

(function_declaration name: (identifier) @name) @def.function
(generator_function_declaration name: (identifier) @name) @def.function
(class_declaration name: (_) @name) @def.class
(export_statement declaration: (function_declaration name: (identifier) @name)) @def.function
(export_statement declaration: (class_declaration name: (_) @name)) @def.class
(export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)]))) @def.function
(method_definition name: (_) @name) @def.method
(lexical_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression) (generator_function)])) @def.function
(variable_declaration (variable_declarator name: (identifier) @name value: [(arrow_function) (function_expression)])) @def.function
(lexical_declaration (variable_declarator name: (identifier) @name value: (class))) @def.class
; module.exports = class Router {}, exports.Router = class {}, exports = module.exports = class Router {}
(expression_statement (assignment_expression right: (class name: (_) @name))) @def.class
(expression_statement (assignment_expression right: (assignment_expression right: (class name: (_) @name)))) @def.class
(expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: (class !name))) @def.class
; module.exports = { get url() {} }
(expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: (object))) @scope
(expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)])) @def.function
; req.get = req.header = function header(name): both
(expression_statement (assignment_expression left: (member_expression property: (property_identifier) @name) right: (assignment_expression right: [(arrow_function) (function_expression)]))) @def.function
(expression_statement (assignment_expression right: (assignment_expression left: (member_expression property: (property_identifier) @name) right: [(arrow_function) (function_expression)]) @def.function))
(expression_statement (assignment_expression left: (identifier) @name right: [(arrow_function) (function_expression)])) @def.function
(pair key: (property_identifier) @name value: [(arrow_function) (function_expression)]) @def.method
; a function or class with a name of its own, wherever it is given to: app.use(function logger(req) {})
(function_expression name: (identifier) @name) @def.function
(arguments (class name: (_) @name) @def.class)
(program (lexical_declaration (variable_declarator name: (identifier) @name)) @def.variable)
(program (variable_declaration (variable_declarator name: (identifier) @name)) @def.variable)
(program (export_statement declaration: (lexical_declaration (variable_declarator name: (identifier) @name))) @def.variable)
(program (export_statement declaration: (variable_declaration (variable_declarator name: (identifier) @name))) @def.variable)

(expression_statement (call_expression function: (_) @call.name arguments: (arguments . [(string) (template_string)] @call.text))) @def.call

(call_expression function: (_) @ref.call)
(new_expression constructor: (_) @ref.call)
(arguments (identifier) @ref.read)
(import_specifier name: (identifier) @ref.read)
(import_clause (identifier) @ref.read)
(shorthand_property_identifier) @ref.read
(pair value: (identifier) @ref.read)
