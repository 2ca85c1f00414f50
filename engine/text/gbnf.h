/* gbnf.h - a grammar in the user's own words (GBNF, the form of llama.cpp), read into a program over bytes.
 *
 *   root   ::= "{" item ("," item)* "}"      # the whole text is a root
 *   item   ::= [a-z]+ "=" [0-9]{1,3} | . | quoted
 *   quoted ::= "\"" [^"\\\x00-\x1F]* "\""
 *
 * Rules     NAME ::= alternatives parted by |. A name has letters, digits and -. A rule ends with its line, but a line
 *           break may follow ::= and |, and stand anywhere between ( and ). An alternative may be empty
 * Items     "text", a class [a-z0-9_], a negated class [^...], . (any character), a rule's name, ( alternatives ), a
 *           token of the model <[106]> or <end_of_turn>, any token but one !<[106]>
 * Repeats   behind an item: ? * + {m} {m,} {m,n}
 * Escapes   in texts and classes: \n \r \t \\ \" \[ \] \xHH \uHHHH \UHHHHHHHH, the last three a code point
 * Comments  from # to the end of the line
 * Bytes     a class is compiled to the valid UTF-8 forms of its characters, so surrogates and overlong forms never
 *           match
 * Tokens    one id as a whole, whatever its bytes: the only way that control tokens come. <text> is a piece of the
 *           vocabulary that begins with < and ends with the first >. ! is any id but the named one and those that end
 *           an answer; these are taken where they are named and the text is whole with them
 * Refused   what llama.cpp refuses (rules that do not exist, no root, left recursion), and what could only end an
 *           answer badly: a rule given twice, one that never ends, a class without characters
 * Limits    MYTH_GBNF_BYTES bytes of text, MYTH_GBNF_RULES rules, MYTH_GBNF_DEPTH brackets inside each other,
 *           MYTH_GBNF_REPEAT repetitions (counted, not unrolled), MYTH_GBNF_SIZE instructions
 * Errors    MYTH_EFORMAT, MYTH_ELIMIT: "NAME:LINE:COLUMN: what", column in bytes from 1; MYTH_ENOMEM
 * Threads   a program never changes after parse; any number may read it
 * Source    llama.cpp, grammars/README.md and src/llama-grammar.cpp */
#ifndef MYTH_GBNF_H
#define MYTH_GBNF_H

#include "tokenizer.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    MYTH_GBNF_BYTES = 1 << 20,
    MYTH_GBNF_RULES = 1 << 12,
    MYTH_GBNF_DEPTH = 64,
    MYTH_GBNF_REPEAT = 1 << 20,
    MYTH_GBNF_SIZE = 1 << 17
};

typedef struct myth_gbnf myth_gbnf;

/* Reads text[0 .. len); name stands in messages. tok has the tokens that it may name, NULL = none (MYTH_EUNSUPPORTED
 * then). Memory of class STAGING. */
myth_status myth_gbnf_parse(myth_gbnf **out, myth_mem *mem, const char *text, size_t len, const char *name,
                            const myth_tokenizer *tok, myth_error *err);
void myth_gbnf_close(myth_gbnf *g); /* takes NULL */
/* Bytes that the program holds. */
uint64_t myth_gbnf_bytes(const myth_gbnf *g);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
