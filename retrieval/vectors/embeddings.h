/* embeddings.h - a file of embeddings by the hash of their text. It only grows, so each text is embedded once.
 *
 * File      512 bytes: "MYTHEMB\n", version u32, dim u32, hash of the model 16, its prompt's name 16, its name 256,
 *           zeros, XXH3-64 of the 504 bytes before; then records of equal size: key 8, vector f16 [dim], XXH3-64 of
 *           both. Little endian
 * Key       the chunk's hash from the database, which does not depend on its path or place
 * Damage    a record with a wrong sum, and a cut one at the end, are ignored. A file whose header is wrong or of
 *           another model or version is replaced by an empty one
 * Growth    records of deleted texts stay, because a branch may bring the texts back, until they are most of the
 *           file (myth_embeddings_compact)
 * Owner     the caller closes what it opened
 * Threads   one at a time per object, and one process at a time (the lock of vectors.h)
 * Errors    MYTH_ENOTFOUND, MYTH_EFORMAT, MYTH_EFULL more records than open was told, MYTH_EIO, MYTH_ENOMEM */
#ifndef MYTH_EMBEDDINGS_H
#define MYTH_EMBEDDINGS_H

#include "engine/base/mem.h"

typedef struct myth_embeddings myth_embeddings;

enum { MYTH_EMBEDDINGS_NAME = 256, MYTH_EMBEDDINGS_PROMPT = 16 };

/* The model that made the embeddings. Strings are cut to fit, zero-terminated and filled up with zeros. */
typedef struct {
    unsigned char model[16];
    uint32_t dim;
    char name[MYTH_EMBEDDINGS_NAME], prompt[MYTH_EMBEDDINGS_PROMPT];
} myth_embeddings_model;

/* Reads which model a file belongs to. MYTH_ENOTFOUND: there is no file that can be read. */
myth_status myth_embeddings_whose(myth_embeddings_model *out, const char *path, myth_error *err);
/* Read-only: MYTH_ENOTFOUND when there is no file of this model. Otherwise the file is created or opened to append.
 * n_more: how many records may be put. */
myth_status myth_embeddings_open(myth_embeddings **out, myth_mem *mem, const char *path,
                                 const myth_embeddings_model *model, uint64_t n_more, bool is_read_only,
                                 myth_error *err);
void myth_embeddings_close(myth_embeddings *e); /* takes NULL */
/* The number of the record with this key, -1 when there is none. */
int64_t myth_embeddings_find(const myth_embeddings *e, uint64_t key);
uint64_t myth_embeddings_n(const myth_embeddings *e);
/* Reads a record's vector. MYTH_EFORMAT: the file has changed since it was opened. */
myth_status myth_embeddings_get(const myth_embeddings *e, int64_t record, float *vector, myth_error *err);
/* Marks a key that will be put later: until then find returns MYTH_EMBEDDINGS_WANTED for it. */
enum { MYTH_EMBEDDINGS_WANTED = -2 };
myth_status myth_embeddings_want(myth_embeddings *e, uint64_t key, myth_error *err);
/* Appends n records and syncs. vector [n][dim]. */
myth_status myth_embeddings_put(myth_embeddings *e, const uint64_t *key, const float *vector, uint32_t n,
                                myth_error *err);
/* Removes the records that are not marked in `is_live`, if they are more than half of all and more than a few. */
myth_status myth_embeddings_compact(myth_embeddings *e, const unsigned char *is_live, myth_error *err);
/* The memory that open needs for n_record records, stored and future ones together. */
uint64_t myth_embeddings_bytes(uint64_t n_record, uint32_t dim);

#endif
