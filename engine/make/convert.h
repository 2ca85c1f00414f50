/* convert.h - any model that can be opened, written as GGUF the way llama.cpp's converter would: names, keys, norms as
 * 1 + w.
 *
 * Types    those of the mix (mix.h). Equal types are copied bit by bit, and a file of quantised tensors is read as its
 *          values
 * Columns  with an importance matrix the columns that matter more are closer to the source; matrices it lacks are
 *          quantised without
 * Adapters a matrix that one adds to is read as floats, added to, and written in its type
 * Threads  rows of a piece are shared out; the file is the same for any number
 * Facts    from GGUF: copied. Else: written from the config; `<family>.attention.scale` when a reader would infer
 *          another value, and sliding_window_pattern when it would infer other layers
 * Vocab    pieces, scores and types of the tokenizer, and its merges where scores would give other ids. Gemma 3: rows
 *          of the embedding past the tokenizer are cut; other families: missing pieces are padded as unused
 * Memory   MYTH_CONVERT_ROWS elements in both forms and a row of importance, see myth_convert_bytes: less than two
 *          tensors, whatever their size
 * Errors   those of gguf_write.h and of the source; MYTH_ECANCEL; MYTH_EFORMAT: a value of the source, or with its
 *          adapters, is not finite; MYTH_EUNSUPPORTED: the type cannot hold a value; no file is left behind */
#ifndef MYTH_CONVERT_H
#define MYTH_CONVERT_H

#include "engine/base/cancel.h"
#include "engine/engine.h"
#include "imatrix.h"
#include "mix.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_CONVERT_ROWS = 1 << 18 };

/* A fact of the caller's, put in place of one with the same key. Text when text is not NULL, else a number. */
typedef struct {
    const char *key, *text;
    uint32_t number;
} myth_convert_kv;

typedef struct {
    const char *path;    /* to write */
    const myth_mix *mix; /* NULL = the one named after `type` */
    myth_dtype type;
    const myth_imatrix *imatrix; /* may be NULL */
    uint32_t n_threads;          /* 0 = 1 */
    const myth_convert_kv *kv;   /* mythos.prompt, mythos.prompt_hash, mythos.trained_tokens, ... */
    uint32_t n_kv;
    void (*on_progress)(void *user, uint64_t done_bytes, uint64_t total_bytes); /* of the source; may be NULL */
    void *user;
    const myth_cancel *cancel; /* may be NULL */
} myth_convert_opts;

/* The model was opened with level DATA, else MYTH_EARG. */
myth_status myth_convert(const myth_model *m, const myth_convert_opts *opts, myth_error *err);
/* What convert books (class STAGING) while it runs. */
uint64_t myth_convert_bytes(const myth_model *m);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
