; inherits: typescript
; tsx.scm - what JSX adds.
(jsx_opening_element name: (identifier) @ref.call)
(jsx_self_closing_element name: (identifier) @ref.call)
