/* judge_text.h - writes the texts of a judge's prompts.
 *
 *   myth_judge_text   the prompt about one place of a list
 *   myth_sheet_lines  the lines that a list is shown with
 *
 * Forms    full   for any model that follows instructions: the function as a <file> block (prompt.h), the list of its
 *                 places, each with a number, its lines, the rule, why it was found and the facts, and the question,
 *                 which ends in the number of a place: what all places of a function share comes first. A text without
 *                 the question's number is a prefix of all of them. Context stands behind the function: <file> blocks
 *                 of what it calls, then of where it is called from, each with lines from 1
 *          short  for models that were trained to judge, one place a prompt, a window of lines and no words that say
 *                 what to do:
 *                   c missing-null-check: the result of malloc is used without a test (origin=call source=malloc)
 *                    int f(size_t n)
 *                   ...
 *                   *    char *p = malloc(n);
 *                        fill(n);
 *                   >    p[0] = 1;
 *                   Fault?
 *                 "-" in front of a line means that a change removed it; at most eight of them stand before one line.
 *                 ">" marks the place, "*" the line that it is about, which a text calls "line *". The function's first
 *                 line and the line that the place is about are shown wherever the window is; "..." stands for what is
 *                 left out between. Lines are not numbered
 * Facts    those that say something: no none, nothing, unknown; in the short form no "no" either
 * Units    bytes; cap and result as in snprintf without a NUL
 * Threads  any */
#ifndef MYTH_CANDIDATES_JUDGE_TEXT_H
#define MYTH_CANDIDATES_JUDGE_TEXT_H

#include "context.h"
#include "frontend/inspect/prompt/prompt.h"

typedef enum { MYTH_JUDGE_FULL, MYTH_JUDGE_SHORT } myth_judge_form;

/* A place as it is shown; its lines are those of the function's text. */
typedef struct {
    uint32_t line0, line1;
    uint32_t about, about_shown; /* a line that `say` names, as it names it and as it should; 0 = none */
    const char *rule, *say, *facts;
} myth_shown_place;

/* A function as it is shown: its lines are numbered from 1 and end without blanks, so that the prompt does not depend
 * on where it stands. Where comments are blanked, lines that held nothing else are left out: the text is that of the
 * function without them. */
typedef struct {
    myth_source src;
    const char *symbol, *language;
    myth_shown_place *place;
    unsigned char *text;
    uint32_t *number; /* of each line of the function in the file: its line here, or that of the last one before it */
    myth_removed *removed; /* what a change removed from it */
    char *gone;            /* the texts of removed */
    uint32_t n_place, n_removed;
    bool has_gone_comments; /* a text that was removed has comments, which are shown */
    size_t n_text, room_text, room_number, room_place, room_removed, room_gone;
} myth_shown;

/* What the prompts of a list of places are about: places [first, first + n) of f, and lines line0 .. line1. */
typedef struct {
    const myth_shown *f;
    uint32_t first, n;
    uint32_t line0, line1;
    const myth_context_list *context; /* NULL = none; its first n_context items are shown */
    uint32_t n_context;
} myth_sheet;

/* The system text of a form; "" where it has none. */
myth_str myth_judge_system(myth_judge_form form);
/* Writes the user's text about place `ask` of the list. Returns the bytes it needs. */
size_t myth_judge_text(char *dst, size_t cap, myth_judge_form form, const myth_sheet *s, uint32_t ask);
/* Shows the list with `near` lines around lines low .. high. */
void myth_sheet_lines(myth_sheet *s, uint32_t low, uint32_t high, uint32_t near);

/* The bytes of the longest piece of a vocabulary: a text of more than n times as many has more than n tokens. */
size_t myth_judge_longest_piece(const myth_tokenizer *t);

#endif
