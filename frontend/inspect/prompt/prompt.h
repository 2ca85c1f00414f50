/* prompt.h - the text that asks for an inspection, and its token ids: the one builder for use, for `mythos prompt` and
 * for training.
 *
 * Order    rules (system text, folded as the family does it), repository map, task, code, instructions; the stable part
 *          first
 * Styles   full      eight rules, the rule ids with their titles, the form of the answer in words
 *          compact   at most 80 tokens of rules, for small models that were trained on exactly this layout
 *          A model says which in its metadata (mythos.prompt = compact | full; none = full), together with
 *          mythos.prompt_hash and mythos.trained_tokens, the longest prompt that training used (longer files are split)
 * Hash     of the version, every literal of the layout, the rule ids, the fixed pieces and limits of the answer; 16 hex
 *          digits; independent of file, family and tokenizer
 * Block    <file path="a.c" lines="1-3" symbol="">  path and symbol in JSON spelling (source.h), as the answer has to
 *          spell them
 *          1|first line  every line with its number; bytes that are not UTF-8 shown as U+FFFD 2|
 *          3|third line
 *          </file>  in code, path and symbol "</file" (any case) is shown as "<\/file"
 * Ids      all of this is content, in which no control token can arise; only the chat template makes them. After
 *          assembly the number of control ids must equal the template's.
 * Units    bytes and tokens
 * Errors   MYTH_EFORMAT control ids that the template did not make (a broken vocabulary), MYTH_EARG, MYTH_EFULL,
 *          MYTH_ENOMEM */
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
} myth_block;

typedef struct {
    myth_prompt_style style;
    const myth_block *block;
    uint32_t n_block;
    const char *map;  /* repository map, NULL = empty slot */
    const char *task; /* NULL = the style's own            */
} myth_prompt;

const char *myth_prompt_style_name(myth_prompt_style style); /* "compact" */
bool myth_prompt_style_from_name(myth_prompt_style *out, const char *name);
/* What the model's metadata asks for; full when it says nothing. MYTH_EFORMAT for an unknown word. */
myth_status myth_prompt_style_of(myth_prompt_style *out, const myth_meta *meta, myth_error *err);
/* NUL-terminated hash of the style's layout. */
void myth_prompt_hash(char dst[MYTH_PROMPT_HASH_LEN + 1], myth_prompt_style style);

/* Rules of the style. */
const char *myth_prompt_system(myth_prompt_style style);
/* Map, task, code, instructions. Writes at most cap bytes, returns what the whole takes. */
size_t myth_prompt_user(char *dst, size_t cap, const myth_prompt *p);

/* Ids that encode can need at most. */
size_t myth_prompt_bound(const myth_prompt *p);
/* Books the text and what the chat template needs as STAGING for the call. */
myth_status myth_prompt_encode(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, const myth_prompt *p,
                               int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* One block in the full layout. Same rule for cap as user. */
size_t myth_prompt_block(char *dst, size_t cap, const myth_block *block);
/* Any system and user text as a prompt of the family, with the count of control ids as above. */
myth_status myth_prompt_encode_text(const myth_tokenizer *t, myth_mem *mem, myth_chat_form form, myth_str system,
                                    myth_str user, int32_t *ids, size_t cap, size_t *n_ids, myth_error *err);
/* Text of ids as the model sees it: pieces of control ids by name, the others as their bytes. Same rule for cap as
 * user. */
size_t myth_prompt_text(char *dst, size_t cap, const myth_tokenizer *t, const int32_t *ids, size_t n_ids);

#ifdef __cplusplus
}
#endif
#endif
