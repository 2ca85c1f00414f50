/* context.h - the code that a judge is shown beside a function: definitions of functions that it calls, and lines that
 * call it.
 *
 *   myth_context_file   names the file whose functions are judged
 *   myth_context_find   lists the context of one of its functions, the most useful first
 *
 * Order    definitions that the places of the function are about (what a value comes from, what is called), then the
 *          lines that call the function, then the other definitions, in the order of their first call
 * Where    in the file itself, as a parser reads it; with an index also in other files, if more than the name says that
 *          this definition is meant (usage.h). The index must be of the same version of the files
 * Names    if the file defines a name several times, the definition in the same type is taken, else none. Calls from
 *          tests are left out
 * Lines    the first MYTH_CONTEXT_LINES of a definition; of a call its line, some lines before it and one after it.
 *          Blanks at the ends of lines are cut. A bare list has no comments: its bytes are those that the same files
 *          without comments would give
 * Memory   a ledger of its own, as the retriever has: what a run plans depends neither on the size of the files beside
 *          it nor on that of an index
 * Owner    index and file outlive the context; a list is valid until the next call
 * Errors   MYTH_ENOMEM, MYTH_ECANCEL, and what the index returns. A file that no parser reads, or that is gone, has an
 *          empty context
 * Threads  one */
#ifndef MYTH_CANDIDATES_CONTEXT_H
#define MYTH_CANDIDATES_CONTEXT_H

#include "engine/base/cancel.h"
#include "frontend/inspect/prompt/source.h"
#include "retrieval/retrieval.h"

enum { MYTH_CONTEXT_ITEMS = 12, MYTH_CONTEXT_CALLERS = 4, MYTH_CONTEXT_LINES = 40 };

typedef struct {
    myth_source src;    /* the lines that are shown, and the path of their file */
    const char *symbol; /* the definition that they are or stand in; "" = none */
    bool is_caller;
} myth_context_item;

typedef struct {
    myth_context_item item[MYTH_CONTEXT_ITEMS];
    uint32_t n;
    bool has_comments; /* in the lines that are shown */
} myth_context_list;

typedef struct {
    const char *worker_path; /* the parsers' program, as in myth_chunker_open; NULL = nothing is found */
    myth_index *index;       /* what other files define and use; NULL = nothing is known of them */
    const myth_cancel *cancel;
} myth_context_opts;

typedef struct myth_context myth_context;

myth_status myth_context_open(myth_context **out, const myth_context_opts *opts, myth_error *err);
void myth_context_close(myth_context *c); /* takes NULL */
/* bare: the bytes of src with blanks for comments. Both stay until the next file or close. */
myth_status myth_context_file(myth_context *c, const myth_source *src, const unsigned char *bare, const char *language,
                              myth_error *err);
/* The context of the function in lines line0 .. line1. about: names in the order of their weight, which may be parts
 * of expressions ("s->get"). */
myth_status myth_context_find(const myth_context_list **out, myth_context *c, const char *function, uint32_t line0,
                              uint32_t line1, const char *const *about, uint32_t n_about, bool is_bare,
                              myth_error *err);

#endif
