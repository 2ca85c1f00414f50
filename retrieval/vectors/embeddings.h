/* embeddings.h - what a model said of texts, kept by the text's hash: a file that only grows, so that a text is
 * embedded once.
 *
 * File      512 bytes: "MYTHEMB\n", version u32, dim u32, hash of the model 16, its prompt's name 16, its name 256,
 *           zeros, XXH3-64 of the 504 bytes before; then records of one size: key 8, dim f16, XXH3-64 of both. Little
 *           endian
 * Key       a chunk's hash as the database has it: its path and place are not in it
 * Damage    a record that does not have its sum, a tail that was cut: as if it had not been there. A header that is not
 *           ours, of another model or version: an empty file in its place
 * Growth    records of texts that are gone stay (a branch comes back), until they are most of the file: see compact
 * Threads   one at a time; one process at a time (the lock of vectors.h) */
#ifndef MYTH_EMBEDDINGS_H
#define MYTH_EMBEDDINGS_H

#include "engine/base/mem.h"

typedef struct myth_embeddings myth_embeddings;

enum { MYTH_EMBEDDINGS_NAME = 256, MYTH_EMBEDDINGS_PROMPT = 16 };

/* Whose they are: strings are cut to fit and zero-terminated; what is behind the zero is zero. */
typedef struct {
    unsigned char model[16];
    uint32_t dim;
    char name[MYTH_EMBEDDINGS_NAME], prompt[MYTH_EMBEDDINGS_PROMPT];
} myth_embeddings_model;

/* Whose a file's are. MYTH_ENOTFOUND: there is none, or none that can be read. */
myth_status myth_embeddings_whose(myth_embeddings_model *out, const char *path, myth_error *err);
/* is_read_only: MYTH_ENOTFOUND when there is none of this model. Else it is made, and appended to. n_more: records that
 * may be put. */
myth_status myth_embeddings_open(myth_embeddings **out, myth_mem *mem, const char *path,
                                 const myth_embeddings_model *model, uint64_t n_more, bool is_read_only,
                                 myth_error *err);
void myth_embeddings_close(myth_embeddings *e); /* takes NULL */
/* The record of a key, -1 when there is none. */
int64_t myth_embeddings_find(const myth_embeddings *e, uint64_t key);
uint64_t myth_embeddings_n(const myth_embeddings *e);
uint64_t myth_embeddings_n_damaged(const myth_embeddings *e); /* records that were left out at open */
/* A record's vector. MYTH_EFORMAT: the file changed under us. */
myth_status myth_embeddings_get(const myth_embeddings *e, int64_t record, float *vector, myth_error *err);
/* Notes a key that is to be put: find answers MYTH_EMBEDDINGS_WANTED for it until it is. */
enum { MYTH_EMBEDDINGS_WANTED = -2 };
myth_status myth_embeddings_want(myth_embeddings *e, uint64_t key, myth_error *err);
/* Appends n records and syncs. vector [n][dim]. */
myth_status myth_embeddings_put(myth_embeddings *e, const uint64_t *key, const float *vector, uint32_t n,
                                myth_error *err);
/* Leaves the records that `is_live` (by record) says, when the others are more than half of them and more than a few.
 */
myth_status myth_embeddings_compact(myth_embeddings *e, const unsigned char *is_live, myth_error *err);
/* Bytes that open takes for so many records, those of the file and those to come. */
uint64_t myth_embeddings_bytes(uint64_t n_record, uint32_t dim);

#endif
