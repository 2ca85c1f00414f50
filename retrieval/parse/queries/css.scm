; css.scm - rules by their selectors.
(comment) @comment
(import_statement (string_value) @ref.import) @import
(import_statement (call_expression (arguments (string_value) @ref.import))) @import
(rule_set (selectors) @name) @def.variable
(keyframes_statement (keyframes_name) @name) @def.function
(media_statement) @open
