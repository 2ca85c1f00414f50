/* fields.h - the automata of an answer's fields, which the forms of answers (findings.h, sentences.h) are put together
 * from: a citation, whose four fields only name and quote what the prompt shows; a text; the name of missing context.
 *
 * Citation path      of one of the prompt's blocks, in JSON spelling (source.h)
 *          first     as the prompt calls the lines (myth_block.skip), inside one block; first <= last < first + span;
 *          last      a range with only blank lines is not allowed
 *          quote     part of one cited line in JSON spelling, without the blanks around the line, of whole characters.
 *                    At least MYTH_EVIDENCE_MIN bytes of the prompt's text, or the whole trimmed line; at most `quote`
 *                    bytes of JSON (and the rest of the last character)
 * Text     UTF-8, with no escapes but \" \\ and (unless it is plain) \n \t \r, and no other byte below 0x20
 * Name     [A-Za-z0-9_./-]+ "::" [A-Za-z0-9_.]+
 * Ends     the byte that ends a field belongs to the literal after it: the quote of a text, a comma or a bracket
 * State    one myth_field serves all fields of an answer, one after the other. States are compared as bytes, so what no
 *          longer matters is zero. Every reachable state can finish its field within its limits
 * Owner    the caller keeps the blocks and their sources
 * Threads  no state but the caller's: any */
#ifndef MYTH_INSPECT_FIELDS_H
#define MYTH_INSPECT_FIELDS_H

#include "findings.h"

#include "frontend/inspect/prompt/prompt.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What may be cited, and the limits of a citation. */
typedef struct {
    const myth_block *block; /* blocks of one file do not overlap */
    uint32_t n_block;        /* 1..MYTH_BLOCK_MAX */
    uint32_t span, quote;    /* most lines; most bytes of JSON, at least 6 * MYTH_EVIDENCE_MIN */
} myth_shown;

/* What an answer of this form may cite. */
static inline myth_shown myth_findings_shown(const myth_findings_grammar *g)
{
    const myth_shown shown = {g->block, g->n_block, (uint32_t)g->limits->span, (uint32_t)g->limits->evidence};
    return shown;
}

typedef struct {
    uint8_t need;   /* bytes until the character is whole, or MYTH_FIELD_ESCAPE; in a name see texts.c */
    uint8_t weight; /* quote: bytes that the character has when shown; text: its lead byte, until the second byte */
    uint8_t shown;  /* quote: bytes that it has when shown, up to MYTH_EVIDENCE_MIN; text: 1 after a byte not blank */
    uint8_t block;
    uint16_t len;         /* bytes of the field */
    uint16_t pick;        /* in a name see texts.c; else free for words of the form */
    uint32_t line, pos;   /* quote: where it first occurs */
    uint32_t first, last; /* lines of the file; each while its digits are read: as the prompt calls it */
} myth_field;

enum { MYTH_FIELD_ESCAPE = 0x80 };

typedef enum { MYTH_CITE_PATH, MYTH_CITE_FIRST, MYTH_CITE_LAST, MYTH_CITE_QUOTE } myth_cite_field;
typedef enum { MYTH_FIELD_REFUSED, MYTH_FIELD_GOES_ON, MYTH_FIELD_ENDS } myth_field_step;

static inline void myth_allow(uint32_t bits[8], uint8_t byte) { bits[byte >> 5] |= 1u << (byte & 31); }

/* Forgets the bytes of the field before; block, first and last stay. */
void myth_field_clear(myth_field *f);

/* ---- citation: cite.c ---- */

/* Whether any block has a line that can be cited. */
bool myth_cite_any(const myth_shown *g);
/* Begins a field, after myth_field_clear and with the earlier fields of the citation as they ended. */
void myth_cite_enter(const myth_shown *g, myth_field *f, myth_cite_field which);
/* One byte; f is undefined after MYTH_FIELD_REFUSED. */
myth_field_step myth_cite_step(const myth_shown *g, myth_field *f, myth_cite_field which, uint8_t byte);
/* Adds the bytes that a quote takes in this state, and its end, to bits. */
void myth_cite_quote_allowed(const myth_shown *g, const myth_field *f, uint32_t bits[8]);
/* Whether both blocks are of one file. */
bool myth_cite_same_file(const myth_block *a, const myth_block *b);

/* ---- texts and names: texts.c ---- */

typedef struct {
    int most;      /* bytes of JSON */
    bool is_plain; /* one line of text that is not blank: no \n \t \r, and something beside spaces */
} myth_text_limit;

/* A character may begin only if all of it has room. */
myth_field_step myth_text_step(myth_field *f, uint8_t byte, myth_text_limit limit);
/* Adds the bytes that a text takes in this state, and its end, to bits. Most tokens of a vocabulary are allowed in a
 * text, so this is asked so often that trying all 256 bytes would be slow. */
void myth_text_allowed(const myth_field *f, myth_text_limit limit, uint32_t bits[8]);
/* Whether no string of at most `horizon` bytes can reach the limit, so that the length does not matter for it. */
bool myth_text_is_far(const myth_field *f, myth_text_limit limit, uint32_t horizon);
myth_field_step myth_name_step(myth_field *f, uint8_t byte, int most);

#ifdef __cplusplus
}
#endif
#endif
