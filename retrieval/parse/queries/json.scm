; json.scm - the keys at the top, and those of the objects under them.
(document (object (pair key: (string) @name) @def.variable))
(document (object (pair value: (object (pair key: (string) @name) @def.variable))))
