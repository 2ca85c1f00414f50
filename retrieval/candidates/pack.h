/* pack.h - the pack of rules that says which places are worth a judgement, read from the texts in rules/.
 *
 *   list NAME: WORD...       names of functions or variables; goes on in lines that begin with blanks
 *   rule ID/ROW              begins a row; ID is an id of the inspector's rules, ROW a name among the rows of that rule
 *   in GRAMMAR...            the languages of the row
 *   at EVENT                 the kind of event that may be a place (myth_event_kind, in small letters)
 *   if FACT VALUE...         a fact about the event (facts.def) has one of the values; "if FACT in LIST": the fact is a
 *                            name, and the list has it
 *   not FACT VALUE...        the fact has none of the values
 *   with LIST                the functions that release what the event is about, for facts about releases
 *   most N                   at most N places of the row in one function; without this line MYTH_CANDIDATES_ROW
 *   like ROW                 the row says the same as an earlier row of its rule: of their places about one path the
 *                            first in the text counts
 *   once                     at most one place of the row in a file, because its sentence is about the file
 *   say TEXT                 the sentence about a place, one line; {path} {callee} {origin} {line} {other} are
 *                            replaced, and of what a change took away {was} by its line's text, {stays} by the line
 *                            that relied on it
 *
 * Words     of a list: a whole name (free), a method of any receiver (.close), or a name with * before or after it
 * Owner     opened once for each grammar, closed; the text is constant
 * Errors    a wrong line is an error of the build: tests open all rules; *wrong gets the number of the line */
#ifndef MYTH_PACK_H
#define MYTH_PACK_H

#include "candidates.h"
#include "retrieval/candidates/facts/facts.h"

enum {
    MYTH_PACK_CONDITIONS = 10,
    MYTH_PACK_ID = MYTH_CANDIDATES_NAME,
    MYTH_PACK_SAY = 200,
    MYTH_PACK_LISTS = MYTH_FACTS_LISTS
};

typedef struct {
    myth_fact_kind fact;
    bool is_not;
    uint32_t values; /* a bit for each value */
    int list;        /* the list that must have the name; -1 = the condition is about values */
} myth_pack_condition;

typedef struct {
    char id[MYTH_PACK_ID], say[MYTH_PACK_SAY];
    char name[MYTH_PACK_ID]; /* ROW */
    uint8_t event, n_condition, most;
    bool is_once;
    int release; /* list; -1 = none */
    int like;    /* the row of this pack that says the same, by its number; -1 = none */
    myth_pack_condition condition[MYTH_PACK_CONDITIONS];
} myth_pack_row;

typedef struct {
    const char *text;
    uint32_t n, letters; /* letters: a bit for each letter of the word; a name without one of them is not the word */
} myth_pack_word;

typedef struct {
    char name[32];
    const char *words; /* the text after the colon, up to the next list or rule */
    uint32_t n;
    uint32_t first, n_word; /* its words are pack.word[first .. first + n_word) */
} myth_pack_list;

typedef struct {
    myth_mem *mem;
    myth_pack_row *row;
    uint32_t n_row, cap_row;
    myth_pack_list list[MYTH_PACK_LISTS];
    uint32_t n_list;
    myth_pack_word *word;
    uint32_t n_word, cap_word;
    uint16_t first[MYTH_EVENT_N + 1]; /* rows of event kind k: order [first[k], first[k + 1]) */
    uint16_t *order;
    struct myth_pack_seen *seen; /* a cache: names that were asked for, and their lists */
} myth_pack;

bool myth_pack_open(myth_pack *r, myth_mem *mem, const char *grammar, const char *text, size_t n, uint32_t *wrong);
void myth_pack_close(myth_pack *r); /* takes a zeroed one */

/* Whether any row of the text is for the grammar. */
bool myth_pack_is_for(const char *text, size_t n, const char *grammar);
/* Writes each rule's id once, in the order of the text; returns how many, at most `most`. */
uint32_t myth_pack_ids(const char *text, size_t n, char id[][MYTH_PACK_ID], uint32_t most);

typedef myth_fact_lists myth_pack_mask;

/* The lists that have a name of a function ("os.path.join", "p->free") or a word of a variable, a bit each. */
myth_pack_mask myth_pack_lists_of(const myth_pack *r, const char *name);
/* The number of a list; -1 = there is none of that name. */
int myth_pack_list_number(const myth_pack *r, const char *name);
/* Whether list number i has the text. For texts that seldom repeat: unlike names, they are not put into the cache. */
bool myth_pack_lists_text(const myth_pack *r, int i, const char *text);

#endif
