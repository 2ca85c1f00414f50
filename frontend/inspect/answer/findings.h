/* findings.h - the answer: its exact bytes, the automaton that lets nothing else be generated, its writer and its
 * reader.
 *
 * Form     one line of JSON without spaces, keys in this order:
 *            {"findings":[{"file":"a.c","lines":[3,4],"evidence":"strcpy(dst,
 *            src);","rule":"missing-bounds-check","issue":"","why":"",
 *            "severity":"HIGH","status":"likely","fix":"","missing":""}],"missing_context":["b.c::free_all"]}
 *          no findings: {"findings":[],"missing_context":[]}
 * file     the path of one of the prompt's blocks, in JSON spelling (source.h)
 * lines    inside one block, first <= last < first + span; ranges without a line that is not blank are not offered
 * evidence a piece of one cited line in JSON spelling, within the trimmed line, of whole characters: at least
 * MYTH_EVIDENCE_MIN bytes as
 *          shown, or the whole trimmed line; at most `evidence` bytes of JSON (and the rest of a character)
 * rule     an id of rules.def; the same file, lines and rule do not come twice
 * severity HIGH MEDIUM LOW INFO;   status  confirmed likely speculative
 * issue, why, fix, missing  UTF-8, of escapes only \" \\ \n \t \r, no other byte below 0x20; at most `issue` ... bytes
 * of JSON each
 * missing_context            "path::symbol" of [A-Za-z0-9_./-]+ "::" [A-Za-z0-9_.]+, at most `context` bytes each
 * State    every reachable state can finish within the limits (tests/frontend/inspect/answer/test_findings.c); a token
 *          may end anywhere
 * Owner    the automaton lends blocks and their sources until it is no longer used */
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
    /* Second pass: file, lines, evidence and rule of every finding are given, only the rest is generated. NULL = first
     * pass. Text per finding: the bytes after `{"file":"` up to and with `"issue":"`. */
    const myth_str *fixed;
    uint32_t n_fixed;
} myth_findings_grammar;

/* Fills *out; g is lent as self. */
void myth_findings_automaton(myth_automaton *out, const myth_findings_grammar *g);
/* Findings completed so far in a state of that automaton. */
uint32_t myth_findings_done(const void *state);
/* A state at the first byte of a path; at the first byte of an issue. */
bool myth_findings_at_path(const void *state);
bool myth_findings_at_issue(const void *state);
/* Where a state stands: between findings, inside one, between names of missing_context, elsewhere. */
typedef enum { MYTH_ANSWER_ELSEWHERE, MYTH_ANSWER_LIST, MYTH_ANSWER_FINDING, MYTH_ANSWER_CONTEXT } myth_answer_place;
myth_answer_place myth_findings_at(const void *state);

/* ---- the answer ---- */

typedef struct {
    uint32_t block; /* index of the block cited                                     */
    uint32_t first, last;
    int rule;
    myth_severity severity;
    myth_finding_status status;
    myth_str evidence, issue, why, fix, missing; /* unescaped UTF-8 */
} myth_finding;

/* Bytes of the answer with these findings; at most cap are written. Evidence is unescaped text as shown (U+FFFD for bad
 * bytes). */
size_t myth_answer_write(char *dst, size_t cap, const myth_block *block, const myth_finding *f, uint32_t n,
                         const myth_str *context, uint32_t n_context);
/* Bytes that an answer about files with paths of up to path_len bytes of spelling can have at most. */
size_t myth_answer_bound(const myth_findings_limits *m, size_t path_len);
/* The heads of the whole findings of an answer, as a second pass takes them (myth_findings_grammar.fixed); they point
 * into text. */
uint32_t myth_answer_heads(myth_str out[MYTH_FINDING_MAX], const myth_findings_grammar *g, const char *text,
                           size_t len);
/* text[0 .. len) is what was generated, walked by g without an error. Ends it where it stands: cuts an unfinished
 * finding (*n_dropped 0 or 1) and closes what is open. dst holds len + MYTH_ANSWER_TAIL bytes and may be text itself.
 * Returns the length. */
enum { MYTH_ANSWER_TAIL = 64 };
size_t myth_answer_close(char *dst, const myth_findings_grammar *g, const char *text, size_t len, uint32_t *n_dropped);

typedef struct {
    myth_finding finding[MYTH_FINDING_MAX];
    uint32_t n_finding;
    myth_str context[MYTH_CONTEXT_MAX];
    uint32_t n_context;
} myth_answer;

/* Reads a whole answer; texts point into room[len], which unescapes them. Evidence is not looked up: that is for
 * verify.h. MYTH_EFORMAT. */
myth_status myth_answer_read(myth_answer *out, char *room, const myth_block *block, uint32_t n_block, const char *text,
                             size_t len, myth_error *err);

#ifdef __cplusplus
}
#endif
#endif
