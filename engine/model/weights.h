/* weights.h - opens a model's files: its tensors, its metadata, where its tokenizer is. The bytes are not trusted.
 *
 * Sources  a directory (config.json + safetensors, single or sharded; or one .gguf in it, or the parts of one), a
 *          .gguf or .safetensors file, `random:FAMILY-SIZE:TYPE` (weights made from a seed, byte vocabulary), or
 *          ORG/NAME in the local Hugging Face cache, the folder opts.hub_dir (refs/main names the snapshot). The
 *          library neither guesses where that folder is nor reads the environment: without hub_dir, ORG/NAME can only
 *          be a path
 * Split    any part of a split GGUF file (PREFIX-00001-of-00003.gguf, keys split.*) opens all of them, which lie in one
 *          folder. Facts are those of the first; level CONFIG opens no other
 * Checks   reads stay inside the file, products are checked for overflow, and a count is compared with the bytes left
 *          before it is used. Names are unique; tensors lie inside the file and do not overlap; those of safetensors
 *          cover the data exactly
 * Tensors  named as in the file; the family maps names to slots and checks shapes (config.h, family.h). The towers of
 *          multimodal checkpoints are checked and then left out. So is lm_head where the config ties it to the
 *          embedding: it must be a copy, by its shape and at level DATA by its numbers, else MYTH_EUNSUPPORTED
 * Links    a file of a directory may be a symbolic link only if it stays inside, or leads to blobs/ of the same cache
 *          entry
 * Limits   MYTH_TENSOR_MAX, MYTH_SHARD_MAX, 16 MiB of safetensors header; parsing takes at most 8 times the header and
 *          16 MiB
 * Owner    the caller closes; names, data and meta are lent until then
 * Errors   MYTH_ENOTFOUND no such path (the message for a hub id holds the `hf download` line), MYTH_EFORMAT,
 *          MYTH_EUNSUPPORTED, MYTH_EIO, MYTH_ENOMEM, MYTH_ECANCEL. Messages: "path: offset N: what: got X, expected Y"
 * Source   safetensors README (format); GGUF specification v2, v3; huggingface_hub cache layout */
#ifndef MYTH_WEIGHTS_H
#define MYTH_WEIGHTS_H

#include "engine/base/cancel.h"
#include "engine/base/dtype.h"
#include "meta.h"

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { MYTH_TENSOR_DIMS = 4, MYTH_TENSOR_MAX = 8192, MYTH_SHARD_MAX = 1024 };

typedef struct {
    myth_str name;
    myth_dtype dtype;
    uint32_t n_dim;                 /* 1..4 */
    uint64_t dim[MYTH_TENSOR_DIMS]; /* outermost first: a matrix is [rows, cols] in both formats; unused = 1 */
    const void *data;               /* NULL unless opened with MYTH_WEIGHTS_DATA, and for random: models */
    uint64_t bytes;
    uint32_t shard;
    uint64_t off; /* in its file */
} myth_tensor;

typedef enum { MYTH_FORMAT_SAFETENSORS, MYTH_FORMAT_GGUF, MYTH_FORMAT_RANDOM } myth_weights_format;

/* How much is opened. Each level includes the one before. Zeroed options open CONFIG, no options (NULL) DATA. */
typedef enum {
    MYTH_WEIGHTS_CONFIG, /* facts and tokenizer only; tensors may be absent altogether      */
    MYTH_WEIGHTS_HEADER, /* and the tensor directory; tensor bytes may be cut off           */
    MYTH_WEIGHTS_DATA    /* and the tensor bytes, mapped                                    */
} myth_weights_level;

typedef struct {
    myth_weights_level level;
    /* --load-mode pread: copy into memory instead of mapping. A mapped file that another program cuts short ends the
     * process by SIGBUS at the next read behind its new end; a copy does not. */
    bool pread;
    bool is_piece; /* a file of some tensors, not a model: it needs neither embedding nor config.json */
    /* a random: model only: tokenizer.json, tokenizer.model, or a folder with one, in place of its vocabulary of bytes;
     * NULL = none. Read by myth_model_open */
    const char *tokenizer;
    const char *hub_dir; /* holds models--ORG--NAME; read during open only; NULL = ORG/NAME is not looked up there */
    /* Told and asked while a file is copied into memory (pread), of each file from its first byte on. Mapping tells
     * nothing, since it reads nothing. */
    myth_watch watch;
} myth_weights_opts;

typedef struct myth_weights myth_weights;

myth_status myth_weights_open(myth_weights **out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                              myth_error *err);
void myth_weights_close(myth_weights *w);

myth_weights_format myth_weights_get_format(const myth_weights *w);
myth_weights_level myth_weights_get_level(const myth_weights *w);
/* Of the file or directory that the spec resolved to; of a split GGUF file, of its first part. */
const char *myth_weights_path(const myth_weights *w);
/* The files that hold tensors and are open, in their order: shards or parts; none of random: models, and none of a
 * folder at level CONFIG. */
uint32_t myth_weights_n_file(const myth_weights *w);
const char *myth_weights_file(const myth_weights *w, uint32_t idx);
/* The path of part idx, from 0, of the split GGUF file of which `path` is a part by its name; false when it is none, or
 * idx is not below their number. Looks at no file. */
bool myth_weights_part_path(char dst[PATH_MAX], const char *path, uint32_t idx);
/* True when the spec ORG/NAME was opened as a path although the cache has a model of that name too; tell the user. */
bool myth_weights_has_namesake(const myth_weights *w);
/* Where tokenizer.json or tokenizer.model would be; NULL when the tokenizer is in the facts (GGUF) or made (random:).
 */
const char *myth_weights_dir(const myth_weights *w);
const char *myth_weights_name(const myth_weights *w); /* what to print as the model's name                    */
const myth_meta *myth_weights_meta(const myth_weights *w);
uint32_t myth_weights_n_tensor(const myth_weights *w);
const myth_tensor *myth_weights_at(const myth_weights *w, uint32_t idx);
const myth_tensor *myth_weights_find(const myth_weights *w, const char *name);
/* The tensor of a slot: hf_name ("layers.3.self_attn.q_proj.weight") behind the prefix of this checkpoint, or gguf_name
 * ("blk.3.attn_q.weight"), whichever the format uses; NULL = not there. "lm_head.weight" stands outside the prefix. */
const myth_tensor *myth_weights_slot(const myth_weights *w, const char *hf_name, const char *gguf_name);
/* Whether config.json says that the head is a matrix of its own (tie_word_embeddings false). */
bool myth_weights_is_untied(const myth_weights *w);
uint64_t myth_weights_bytes(const myth_weights *w); /* sum over tensors */
/* Whether every value of a tensor is finite; the tensor was opened with its data. */
bool myth_tensor_is_finite(const myth_tensor *t);
/* Checks that no file of the tensors was changed since open; MYTH_EIO names the one that was. */
myth_status myth_weights_check(const myth_weights *w, myth_error *err);
/* Fills dst with elements first .. first + n - 1 of a tensor of a random: model, in the tensor's element type. The
 * values depend on the seed, the tensor's name and the element's number (weights_random.c). */
myth_status myth_weights_random_fill(const myth_weights *w, const myth_tensor *t, uint64_t first, uint64_t n, void *dst,
                                     myth_error *err);

/* The i-th published size that random: can make ("gemma3-4b"), oldest family first; NULL after the last. */
const char *myth_weights_random_size(uint32_t i);
/* Row `row` of a matrix of a random: model, as floats of its type. */
myth_status myth_weights_random_row(const myth_weights *w, const myth_tensor *t, uint64_t row, float *dst,
                                    myth_error *err);

/* What the ledger holds for an open w; both the same at levels HEADER and DATA, so a plan made from headers is right
 * for the run. booked: class OTHER. mapped: whole files of the tensors, class WEIGHTS_MAPPED, or WEIGHTS when they are
 * read (pread, level DATA). For files whose tensor bytes are cut off, mapped is what the complete files have. */
uint64_t myth_weights_booked(const myth_weights *w);
uint64_t myth_weights_mapped(const myth_weights *w);
bool myth_weights_is_read(const myth_weights *w); /* opened with pread */

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
