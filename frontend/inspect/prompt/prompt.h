/* prompt.h - builds the text and the token ids of a prompt, for inspections, for `mythos prompt` and for training.
 *
 * Order    rules (as system text, or in the user's turn if the family has no system turn), repository map, task, code,
 *          instructions. Texts that change least come first, so that prompts share a long prefix
 * Styles   full      eight rules, the rule ids with their titles, and the form of the answer in words
 *          question  asks for an answer in sentences (sentences.h); the task is the question
 *          change    full, for a change: with the rules of a change in the list
 *          summary   asks what a change does, in sentences (sentences.h); it has no map
 *          compact   at most 80 tokens of rules, for small models that were trained on exactly this layout
 *          A model's metadata names its style (mythos.prompt = compact | full; none = full), the hash of the layout it
 *          was trained on (mythos.prompt_hash), and the longest prompt of its training (mythos.trained_tokens; longer
 *          files are split)
 * Hash     covers the version, every literal of the layout, the rule ids, the fixed pieces and the limits of the
 *          answer; 16 hex digits; independent of file, family and tokenizer
 * Block    <file path="a.c" lines="1-3" symbol="">  path and symbol in JSON spelling (source.h), as the answer has to
 *          spell them
 *          1|first line  every line has its number; a byte that is not UTF-8 is shown as U+FFFD
 *          2|
 *          3|third line
 *          </file>  in code, path and symbol "</file" (any case) is shown as "<\/file"
 * Removed  <removed path="a.c" before="2">  after the block of code that they were removed from: lines of the old side,
 *          -|old line                       which have no number, because nothing may cite them. "</removed" in them
 *          </removed>                       is shown as "<\/removed". Without before="" they are of the file at path,
 *                                           which is gone. Not in the compact style
 * Ids      all texts are encoded as content, which cannot produce a control token (tokenizer.h); only the chat template
 *          adds them
 * Units    bytes and tokens
 * Owner    the caller owns texts, blocks and ids
 * Errors   MYTH_EARG, MYTH_EFULL, MYTH_ENOMEM
 * Threads  any */
#ifndef MYTH_INSPECT_PROMPT_H
#define MYTH_INSPECT_PROMPT_H

#include "engine/engine.h"
#include "frontend/inspect/rules/form.h"
#include "source.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_PROMPT_VERSION = 1, MYTH_PROMPT_HASH_LEN = 16 };

/* Lines first..last (from 1) of a source; last = first - 1 for a file without lines. */
typedef struct {
    const myth_source *src;
    uint32_t first, last;
    const char *symbol; /* enclosing definition, NULL = none known */
    /* Most bytes of the source's removed lines to show after the block; 0 = none. When there are more, every place
     * where lines were removed gets the same share, so that a long one does not hide a short one; and comments and
     * blank lines have what the lines with code leave. */
    uint32_t removed_most;
    int32_t skip;    /* the prompt and the answer call line n of the file n - skip */
    bool is_again;   /* another part of the inspection has these lines as its subject; here they are only repeated */
    bool is_context; /* findings about these lines are not asked for */
} myth_block;

/* What the prompt calls line n of the block's file. */
static inline uint32_t myth_block_shown(const myth_block *b, uint32_t n) { return (uint32_t)((int64_t)n - b->skip); }
/* Sets the skip of the blocks n_old .. n - 1 of a prompt, so that the numbers of each file begin with 1 and no number
 * means two lines. Then lines that are added elsewhere in the file change nothing in the prompt. */
void myth_blocks_number(myth_block *block, uint32_t n_old, uint32_t n);

typedef struct {
    myth_prompt_style style;
    const myth_block *block;
    uint32_t n_block;
    const char *map;  /* repository map, NULL = empty slot */
    const char *task; /* NULL = the style's own            */
} myth_prompt;

const char *myth_prompt_style_name(myth_prompt_style style);                /* "compact" */
bool myth_prompt_style_from_name(myth_prompt_style *out, const char *name); /* full or compact */
/* The style that the model's metadata names; full when it names none. MYTH_EFORMAT: it is an unknown word. */
myth_status myth_prompt_style_of(myth_prompt_style *out, const myth_meta *meta, myth_error *err);
/* NUL-terminated hash of the style's layout. */
void myth_prompt_hash(char dst[MYTH_PROMPT_HASH_LEN + 1], myth_prompt_style style);

/* The task of a prompt that has none of its own; "" in a style whose models know no other. */
const char *myth_prompt_task(myth_prompt_style style);
/* The rules of the style, which are the system text. */
const char *myth_prompt_system(myth_prompt_style style);
/* Writes map, task, code and instructions: at most cap bytes. Returns the bytes that all of it needs. */
size_t myth_prompt_user(char *dst, size_t cap, const myth_prompt *p);

/* The most ids that encode can write. */
size_t myth_prompt_bound(const myth_prompt *p);
/* Encodes the prompt. Books its text and the chat template's memory as STAGING during the call. */
myth_status myth_prompt_encode(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_prompt *p,
                               int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* How many removed lines stand after the block in a prompt of the full style; *n_hidden = how many more were removed
 * there. */
uint32_t myth_prompt_n_removed(const myth_block *block, uint32_t *n_hidden);
/* Writes one block of code, as in the full style; cap and result as in myth_prompt_user. */
size_t myth_prompt_block(char *dst, size_t cap, const myth_block *block);
/* Encodes any system and user text as a prompt of the family. */
myth_status myth_prompt_encode_text(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, myth_str system,
                                    myth_str user, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* Writes the text of ids as the model sees them, with control ids by name; cap and result as in myth_prompt_user. */
size_t myth_prompt_text(char *dst, size_t cap, const myth_tokenizer *t, const int32_t *ids, size_t n_ids);

#ifdef __cplusplus
}
#endif
#endif
