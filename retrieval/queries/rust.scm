; rust.scm - what Rust defines and uses.
(line_comment) @comment
(block_comment) @comment
(use_declaration argument: (_) @ref.import) @import
(extern_crate_declaration name: (_) @ref.import) @import

(function_item name: (identifier) @name) @def.function
(function_signature_item name: (identifier) @name) @def.function
(struct_item name: (type_identifier) @name) @def.type
(enum_item name: (type_identifier) @name) @def.type
(union_item name: (type_identifier) @name) @def.type
(type_item name: (type_identifier) @name) @def.type
(trait_item name: (type_identifier) @name) @def.class
(impl_item type: (type_identifier) @name) @scope
(impl_item type: (generic_type type: (type_identifier) @name)) @scope
(mod_item name: (identifier) @name body: (declaration_list) @open) @def.module @open
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(macro_definition name: (identifier) @name) @def.macro
((attribute_item (attribute (identifier) @call.name)) @mark . (function_item name: (identifier) @name) @def.function)
((attribute_item (attribute (scoped_identifier name: (identifier) @call.name))) @mark . (function_item name: (identifier) @name) @def.function)
((attribute_item (attribute (identifier) @call.name arguments: (token_tree . (string_literal) @call.text))) @mark . (function_item name: (identifier) @name) @def.function)
(call_expression function: (field_expression field: (field_identifier) @call.name) arguments: (arguments . (string_literal) @call.text (_))) @def.call

(call_expression function: (identifier) @ref.call)
(call_expression function: (field_expression field: (field_identifier) @ref.call))
(call_expression function: (scoped_identifier name: (identifier) @ref.call))
(macro_invocation macro: (identifier) @ref.call)
(type_identifier) @ref.type
(arguments (identifier) @ref.read)
