/* node_names.h - where a definition's name and body are in its node: behind declarators, qualifiers, type arguments
 * and wrappers. The rules go by the fields of nodes, so they are the same for all languages.
 *
 * Fields   a grammar's numbers of the fields that the rules ask for; 0 = the grammar has no such field
 * Threads  any */
#ifndef MYTH_NODE_NAMES_H
#define MYTH_NODE_NAMES_H

#include <stdbool.h>
#include <stdint.h>
#include <tree_sitter/api.h>

enum { MYTH_NODE_FIELDS = 16 };

void myth_node_fields_open(TSFieldId field[MYTH_NODE_FIELDS], const TSLanguage *language);

/* Descends through declarators and qualifiers to the name itself; *parent gets the qualifier. */
TSNode myth_node_name(const TSFieldId *field, TSNode node, TSNode *parent);

/* The offset where the text of a name ends: that of a conversion (operator char *) before its parameters. */
uint32_t myth_node_name_end(const TSFieldId *field, TSNode name);

/* The name of a type without references, pointers, paths and type arguments: Type of &mut path::Type<T>. Null when
 * it has none of its own, as a tuple or a function. */
TSNode myth_node_type_name(const TSFieldId *field, TSNode node);

/* The name of the type whose members a block such as `impl Trait for Type` has. A block for every type (impl<T> Trait
 * for T), or for a type that has no name, belongs to its trait. Null when there is neither. */
TSNode myth_node_owner_name(const TSFieldId *field, TSNode block, TSNode type, const char *text);

/* The last name of a use: c of a.b.c, without type arguments. Null when there is none, as in a call of a call's
 * result. */
TSNode myth_node_last_name(const TSFieldId *field, TSNode node);

/* The offset where a definition's body begins, inside of any wrapper; 0 = none. */
uint32_t myth_node_body(const TSFieldId *field, TSNode node);

/* Whether a name is a word of C's statements: where a text is not valid, a condition with its block looks like a
 * function of the name `if`. */
bool myth_node_is_statement_word(TSNode name, const char *text);

#endif
