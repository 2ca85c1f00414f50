; yaml.scm - the keys at the top, and those of the mappings under them.
(comment) @comment
(document (block_node (block_mapping (block_mapping_pair key: (_) @name) @def.variable)))
(document (block_node (block_mapping (block_mapping_pair value: (block_node (block_mapping (block_mapping_pair key: (_) @name) @def.variable))))))
