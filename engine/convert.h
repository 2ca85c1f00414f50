/* convert.h - any model that can be opened, written as GGUF the way llama.cpp's converter would: names, keys, norms as 1 + w.
 *
 * Types    matrices become `type`; norms are f32; where the matrices become q4_0 the embedding, which is also the head, becomes q8_0
 *          (a row whose length is not a multiple of the block becomes f16). Equal types are copied bit by bit.
 * Facts    from GGUF: copied. Else: written from the config; `<family>.attention.scale` when a reader would infer another value, and
 *          sliding_window_pattern when it would infer other layers
 * Vocab    pieces, scores and types of the tokenizer, and its merges where scores would give other ids. Gemma 3: rows of the embedding
 *          past the tokenizer are cut; other families: missing pieces are padded as unused
 * Memory   MYTH_CONVERT_ROWS elements in both forms, see myth_convert_bytes: less than two tensors, whatever their size
 * Errors   those of gguf_write.h and of the source; MYTH_ECANCEL; no file is left behind                                         */
#ifndef MYTH_CONVERT_H
#define MYTH_CONVERT_H

#include "engine.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_CONVERT_ROWS = 1 << 18 };

/* A fact of the caller's, put in place of one with the same key. Text when text is not NULL, else a number. */
typedef struct {
    const char *key, *text;
    uint32_t number;
} myth_convert_kv;

typedef struct {
    const char *path;                   /* to write */
    myth_dtype type;                    /* f32 f16 bf16 q8_0 q4_0 */
    const myth_convert_kv *kv;          /* mythos.prompt, mythos.prompt_hash, mythos.trained_tokens, ... */
    uint32_t n_kv;
    void (*on_progress)(void *user, uint64_t done_bytes, uint64_t total_bytes);      /* of the source; may be NULL */
    void *user;
    const bool *cancel;                 /* may be NULL */
} myth_convert_opts;

/* The model was opened with level DATA. */
myth_status myth_convert(const myth_model *m, const myth_convert_opts *opts, myth_error *err);
/* What convert books (class STAGING) while it runs. */
uint64_t myth_convert_bytes(const myth_model *m);

#ifdef __cplusplus
}
#endif
#endif
