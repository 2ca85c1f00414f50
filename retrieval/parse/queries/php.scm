; php.scm - what PHP defines and uses.
(comment) @comment
(namespace_use_declaration (namespace_use_clause (_) @ref.import)) @import
(namespace_definition !body) @import

(function_definition name: (name) @name) @def.function
(class_declaration name: (name) @name) @def.class
(interface_declaration name: (name) @name) @def.class
(trait_declaration name: (name) @name) @def.class
(enum_declaration name: (name) @name) @def.type
(method_declaration name: (name) @name) @def.method
(method_declaration attributes: (attribute_list (attribute_group (attribute (name) @call.name))) @mark name: (name) @name) @def.method
(method_declaration attributes: (attribute_list (attribute_group (attribute (name) @call.name parameters: (arguments . (argument (string) @call.text))))) @mark name: (name) @name) @def.method
(const_element (name) @name) @def.constant
(enum_case name: (name) @name) @def.constant
(property_declaration (property_element name: (variable_name (name) @name))) @def.variable
(property_promotion_parameter name: (variable_name (name) @name)) @def.variable
; define("LIMIT", 3): languages.def's definers
(expression_statement (function_call_expression function: (name) @call.name arguments: (arguments . (argument (string) @name)))) @def.constant
(expression_statement (_ name: (name) @call.name arguments: (arguments . (argument (string) @call.text)))) @def.call

(function_call_expression function: (name) @ref.call)
(member_call_expression name: (name) @ref.call)
(scoped_call_expression name: (name) @ref.call)
(object_creation_expression (name) @ref.call)
(named_type (name) @ref.type)
(base_clause (name) @ref.type)
(class_interface_clause (name) @ref.type)
