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
(impl_item type: (_) @name) @scope
(enum_variant name: (identifier) @name) @def.constant
(associated_type name: (type_identifier) @name) @def.type
(mod_item name: (identifier) @name body: (declaration_list) @open) @def.module @open
(const_item name: (identifier) @name) @def.constant
(static_item name: (identifier) @name) @def.variable
(macro_definition name: (identifier) @name) @def.macro
((attribute_item (attribute . (_) @call.name arguments: (token_tree . (string_literal) @call.text)?)) @mark . (function_item name: (identifier) @name) @def.function)
(call_expression function: (_) @call.name arguments: (arguments . (string_literal) @call.text)) @def.call

(call_expression function: (_) @ref.call)
(macro_invocation macro: (_) @ref.call (token_tree) @tokens)
(type_identifier) @ref.type
(arguments (identifier) @ref.read)
