/* vectors_impl.h - inside the vectors: where things stand in the file. Little endian; sections begin at multiples of 64
 * bytes.
 *
 *   0  "MYTHVEC\n"      8  version u32      12  kind u32        16  dim u32        20  n_list u32 (0 unless ivf)
 *  24  n_row u64       32  generation u64   40  bytes of the file u64
 *  48  hash of the model 16                 64  name of the prompt 16              80  name of the model 256
 * 496  XXH3-128 (canonical) of the file with these 16 bytes zero
 * 512  id i64 [n_row], rising; content u64 [n_row]; sq8 and ivf: least and range f32 [2][dim];
 *      ivf: centre f32 [n_list][dim], end of list u64 [n_list], row u32 [n_row] of each place; codes [n_row]: dim
 *      floats or dim bytes, in the order of rows, of ivf in that of places */
#ifndef MYTH_VECTORS_IMPL_H
#define MYTH_VECTORS_IMPL_H

#include "vectors.h"
#include "retrieval/index/index_impl.h"

#include <limits.h>

enum { MYTH_VECTORS_VERSION = 1, MYTH_VECTORS_HEADER = 512, MYTH_VECTORS_SUM_AT = 496, MYTH_VECTORS_LISTS = 1 << 16 };

typedef struct {
    myth_vectors_info info;
    uint32_t n_list;
    uint64_t bytes; /* size of the file */
    uint64_t at_id, at_content, at_trained, at_centroid, at_end, at_row, at_code;
    uint32_t code_bytes;
} myth_vectors_layout;

/* Computes the offsets from info and n_list, which the caller has checked. */
void myth_vectors_lay_out(myth_vectors_layout *l);
void myth_vectors_put_header(unsigned char h[MYTH_VECTORS_HEADER], const myth_vectors_layout *l);

/* Numbers of meta. */
#define MYTH_VECTORS_GENERATION "vectors"         /* generation of the current file; 0 = none */
#define MYTH_VECTORS_STATE      "vectors_of"      /* the number "updates" when its chunks were read */
#define MYTH_VECTORS_MISSING    "vectors_missing" /* number of chunks without a row in that state */

/* A number for a new file, made at random; never 0. */
uint64_t myth_vectors_new_generation(void);
/* Whether the database has a file of vectors, and the index's chunks have not changed since that file was made. */
bool myth_vectors_is_of_this_state(const myth_index *x);
/* Removes the files of other generations beside the database, and what an interrupted update left there. */
void myth_vectors_remove_others(const myth_index *x, uint64_t generation);

/* Names of the files beside a database. */
void myth_vectors_path(char path[PATH_MAX], const myth_index *x, uint64_t generation);
void myth_embeddings_path(char path[PATH_MAX], const myth_index *x);

/* row reads a stored row; vector [dim]. step says how far a stored value of dimension i may be from the original: 0
 * for floats, else half a quantisation step. */
void myth_vectors_row(const myth_vectors *v, uint64_t row, int64_t *id, uint64_t *content, float *vector);
float myth_vectors_step(const myth_vectors *v, uint32_t i);

#endif
