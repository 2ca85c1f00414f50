/* findings.h - the answer of a model: its exact form, the automaton that allows no other bytes to be generated, its
 * writer and its reader.
 *
 * Form     one line of JSON without spaces, keys in this order:
 *            {"findings":[{"file":"a.c","lines":[3,4],"evidence":"strcpy(dst,
 *            src);","rule":"missing-bounds-check","issue":"","why":"",
 *            "severity":"HIGH","status":"likely","fix":"","missing":""}],"missing_context":["b.c::free_all"]}
 *          without findings: {"findings":[],"missing_context":[]}
 * file, lines, evidence  a citation (fields.h), with at most `evidence` bytes of JSON
 * rule     one of the first n_rule ids of rules.def; two findings cannot have the same file, lines and rule
 * severity HIGH MEDIUM LOW INFO;   status  confirmed likely speculative
 * issue, why, fix, missing  texts (fields.h) of at most `issue` ... bytes of JSON each
 * missing_context  names (fields.h) "path::symbol", at most `context` bytes each
 * State    every reachable state can finish within the limits (tests/frontend/inspect/answer/test_findings.c); a token
 *          may end at any byte
 * Owner    the caller keeps the blocks and their sources as long as it uses the automaton
 * Threads  the automaton has no state of its own: several sequences may use it */
#ifndef MYTH_INSPECT_FINDINGS_H
#define MYTH_INSPECT_FINDINGS_H

#include "frontend/inspect/prompt/prompt.h"
#include "frontend/inspect/rules/form.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the automaton ---- */

typedef struct {
    const myth_block *block; /* blocks of one file do not overlap */
    uint32_t n_block;        /* 1..MYTH_BLOCK_MAX */
    const myth_findings_limits *limits;
    /* Second pass: file, lines, evidence and rule of every finding are given, and only the rest is generated. One text
     * for each finding: the bytes after `{"file":"` up to the end of `"issue":"`. NULL = first pass. */
    const myth_str *fixed;
    uint32_t n_fixed;
} myth_findings_grammar;

/* Fills *out, which keeps a pointer to g. */
void myth_findings_automaton(myth_automaton *out, const myth_findings_grammar *g);
/* Number of findings that are complete in a state of that automaton. */
uint32_t myth_findings_done(const void *state);
/* Whether the next byte is the first one of a path; of an issue. */
bool myth_findings_at_path(const void *state);
bool myth_findings_at_issue(const void *state);
/* Where in the answer a state is: between findings, inside one, between names of missing_context, elsewhere. */
typedef enum { MYTH_ANSWER_ELSEWHERE, MYTH_ANSWER_LIST, MYTH_ANSWER_FINDING, MYTH_ANSWER_CONTEXT } myth_answer_place;
myth_answer_place myth_findings_at(const void *state);

/* ---- the answer ---- */

typedef struct {
    uint32_t block;       /* index of the block cited                                     */
    uint32_t first, last; /* lines of the file                                            */
    int rule;
    myth_severity severity;
    myth_finding_status status;
    bool is_brought; /* the change that is inspected brought it, whether or not it touched its lines */
    int known_rule;  /* its fingerprint is made of this rule and line (given.h); known_line 0 = of its own */
    uint32_t known_line;
    myth_str evidence, issue, why, fix, missing; /* unescaped UTF-8 */
} myth_finding;

/* Writes the answer with these findings, at most cap bytes, and returns the bytes that all of it needs. Evidence is
 * unescaped text, with U+FFFD for bytes that are not UTF-8. */
size_t myth_answer_write(char *dst, size_t cap, const myth_block *block, const myth_finding *f, uint32_t n,
                         const myth_str *context, uint32_t n_context);
/* The most bytes of an answer about files whose paths have at most path_len bytes in JSON spelling. */
size_t myth_answer_bound(const myth_findings_limits *m, size_t path_len);
/* The texts that myth_findings_grammar.fixed needs for a second pass, one for each complete finding; they point into
 * text. Returns their number. */
uint32_t myth_answer_heads(myth_str out[MYTH_FINDING_MAX], const myth_findings_grammar *g, const char *text,
                           size_t len);
/* Makes a cut-off answer whole: removes an unfinished finding (*n_dropped 0 or 1) and closes the open brackets.
 * text[0 .. len) must be a beginning that g allows. dst has room for len + MYTH_ANSWER_TAIL bytes and may be text.
 * Returns the length. */
enum { MYTH_ANSWER_TAIL = 64 };
size_t myth_answer_close(char *dst, const myth_findings_grammar *g, const char *text, size_t len, uint32_t *n_dropped);

typedef struct {
    myth_finding finding[MYTH_FINDING_MAX];
    uint32_t n_finding;
    myth_str context[MYTH_CONTEXT_MAX];
    uint32_t n_context;
} myth_answer;

/* Reads a whole answer; its texts are unescaped into room[len] and point there. Does not check the evidence: verify.h
 * does. MYTH_EFORMAT: text is not such an answer. */
myth_status myth_answer_read(myth_answer *out, char *room, const myth_block *block, uint32_t n_block, const char *text,
                             size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
