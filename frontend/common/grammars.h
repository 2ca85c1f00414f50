/* grammars.h - a grammar that the user gives for an answer: the flags, the keys of a JSON line, and what answers that
 * are generated side by side need to keep to theirs.
 *
 * Flags    --grammar TEXT, --grammar-file FILE (gbnf.h), -j TEXT, -jf FILE (json_schema.h); at most one of them
 * A line   "grammar": a text, or "json_schema": a schema, which takes the place of the flags'
 * Answers  each has its own states and masks, so it is the same alone and in company
 * Ends     an answer stops where its text is whole, by the model's choice or because nothing can follow; when no token
 *          can follow though the text is not whole, its finish reason is "grammar" (myth_grammars_why)
 * Memory   of programs, class STAGING; of answers, class OTHER, myth_grammars_bytes of it, taken at open
 * Errors   those of gbnf.h and json_schema.h; MYTH_EARG: two grammars; MYTH_ENOTFOUND, MYTH_EIO of a file
 * Threads  one */
#ifndef MYTH_GRAMMARS_H
#define MYTH_GRAMMARS_H

#include "engine/text/json_tree.h"
#include "engine/text/pushdown.h"
#include "frontend/cli/cli.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *grammar, *grammar_file, *schema, *schema_file;
} myth_grammar_flags;

enum { MYTH_N_OPTIONS_GRAMMAR = 4 };
extern const myth_option myth_options_grammar[MYTH_N_OPTIONS_GRAMMAR];
#define MYTH_GROUP_GRAMMAR(type, field)                                                \
    {                                                                                  \
        "grammar", myth_options_grammar, MYTH_N_OPTIONS_GRAMMAR, offsetof(type, field) \
    }

/* The grammar of the flags, which the caller closes (NULL: none is given), and a hash of what it was read from. tok:
 * that of the model, which has the tokens that a grammar may name; NULL = it has none. */
myth_status myth_grammars_read(myth_gbnf **out, uint64_t *hash, myth_mem *mem, const myth_grammar_flags *flags,
                               const myth_tokenizer *tok, myth_error *err);
/* The grammar of an object's own keys; NULL: it has none. */
myth_status myth_grammars_of_line(myth_gbnf **out, myth_mem *mem, const myth_json_tree *tree,
                                  const myth_json_node *object, const myth_tokenizer *tok, myth_error *err);

#define MYTH_TOOL_CHOICE_HELP                                                                                      \
    "hold the calls of tools in an answer to the form that is read back and to their parameters: auto = text and " \
    "calls, required = calls alone, none = no calls, or the name of the tool to call; left out, nothing is held"
/* The grammar that --tool-choice asks for: auto (text, and whole calls in it), required (calls), none (text) or the
 * name of a tool (one call of it). tools: their JSON list, len 0 = the chat has none. MYTH_EUNSUPPORTED: the model has
 * no marks for calls, or a tool's parameters are more than json_schema.h reads. */
myth_status myth_grammars_of_tools(myth_gbnf **out, const myth_model *m, const char *choice, myth_str tools,
                                   myth_error *err);
/* What --tool-choice does not go with: a grammar of the flags; a thought that ends early, or stands before calls
 * alone. */
myth_status myth_grammars_check_choice(const char *choice, bool has_grammar, bool thinks, uint32_t n_think,
                                       myth_error *err);

typedef struct myth_grammars myth_grammars;

/* For n answers at once. stop_ids as in myth_grammar_open. */
uint64_t myth_grammars_bytes(const myth_model *m, uint32_t n);
myth_status myth_grammars_open(myth_grammars **out, const myth_model *m, myth_mem *mem, const int32_t *stop_ids,
                               int n_stop, uint32_t n, myth_error *err);
void myth_grammars_close(myth_grammars *g); /* takes NULL */
/* What answer i gets as myth_generate_opts.grammar; the program is lent until it has ended. */
myth_grammar *myth_grammars_start(myth_grammars *g, uint32_t i, const myth_gbnf *program);
/* Why answer i could not go on, for a person. */
const char *myth_grammars_why(const myth_grammars *g, uint32_t i);

#ifdef __cplusplus
}
#endif
#endif
