/* sentences.h - the answer to a question: sentences that each cite what was shown, or the statement that what was shown
 * does not answer it. Its exact form, the automaton that allows no other bytes to be generated, and its reader.
 *
 * Form     one line of JSON without spaces, keys in this order; one of
 *            {"answered":true,"sentences":[{"text":"The lock is taken first.","citations":[{"file":"a.c",
 *            "lines":[3,4],"quote":"lock(&m);"}]}],"missing_context":["b.c::free_all"]}
 *            {"answered":false,"missing":"the body of free_all","missing_context":[]}
 * answered true only with at least one sentence; a fact may need no second one
 * text     one line of text (fields.h, plain) of 1 to limits.issue bytes of JSON
 * citations  1..MYTH_QUOTE_MAX of each sentence: file, lines and a quote of at most limits.evidence bytes (fields.h)
 * missing  what would be needed: plain text of 1 to limits.missing bytes; "" in an answer that was cut off
 * Limits   of form.h: limits.n_finding = most sentences
 * State, owner, threads  as in findings.h */
#ifndef MYTH_INSPECT_SENTENCES_H
#define MYTH_INSPECT_SENTENCES_H

#include "findings.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SENTENCE_MAX = 6, MYTH_QUOTE_MAX = 3 };

/* ---- the automaton ---- */

/* Fills *out, which keeps a pointer to g; g->fixed is not used. */
void myth_sentences_automaton(myth_automaton *out, const myth_findings_grammar *g);
/* Makes a cut-off answer whole: removes an unfinished sentence (*n_dropped 0 or 1) and closes the open brackets. An
 * answer without a whole sentence is closed as not answered. As myth_answer_close. */
size_t myth_sentences_close(char *dst, const myth_findings_grammar *g, const char *text, size_t len,
                            uint32_t *n_dropped);
/* The most bytes of an answer, with MYTH_ANSWER_TAIL. */
size_t myth_sentences_bound(const myth_findings_limits *m, size_t path_len);

/* ---- the answer ---- */

typedef struct {
    uint32_t block, first, last; /* index of the block cited; lines of the file */
    myth_str quote;              /* unescaped UTF-8 */
} myth_quote;

typedef struct {
    myth_str text;
    uint32_t quote, n_quote; /* its citations are quote[quote .. quote + n_quote) */
} myth_sentence;

typedef struct {
    bool is_answered;
    myth_sentence sentence[MYTH_SENTENCE_MAX];
    uint32_t n_sentence;
    myth_quote quote[MYTH_SENTENCE_MAX * MYTH_QUOTE_MAX];
    uint32_t n_quote;
    myth_str missing; /* of an answer that is none */
    myth_str context[MYTH_CONTEXT_MAX];
    uint32_t n_context;
} myth_reply;

/* Reads a whole answer; its texts are unescaped into room[len] and point there. Does not check the quotes: verify.h
 * does. MYTH_EFORMAT: text is not such an answer. */
myth_status myth_sentences_read(myth_reply *out, char *room, const myth_block *block, uint32_t n_block,
                                const char *text, size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
