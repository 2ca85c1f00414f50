/* safetensors.h - writes a .safetensors file: a header of JSON, then the values of all tensors behind each other.
 *
 * Order    begin takes the list of all tensors and writes the header; then their bytes are put in that order, in pieces
 *          of any size; end checks that nothing is missing
 * Files    as in outfile.h: the file gets its name when it is complete; a special file is refused, because the length
 *          of the header is written last
 * Owner    the lists are the caller's and not read after begin; the path is lent until end or abandon
 * Errors   MYTH_ECREATE, MYTH_EIO
 * Source   safetensors README: u64 length of the header, {"name":{"dtype","shape","data_offsets"}}, "__metadata__" of
 *          texts, spaces up to a multiple of 8 */
#ifndef MYTH_SAFETENSORS_H
#define MYTH_SAFETENSORS_H

#include "engine/base/outfile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_SAFETENSOR_DIM_MAX = 3, MYTH_SAFETENSOR_NAME_BYTES = 192 };

typedef struct {
    char name[MYTH_SAFETENSOR_NAME_BYTES];
    const char *dtype; /* "F32", "F64", "I64" */
    int n_dim;
    uint64_t shape[MYTH_SAFETENSOR_DIM_MAX];
} myth_safetensor;

typedef struct {
    const char *key, *value;
} myth_safetensor_meta;

typedef struct {
    myth_out file; /* zeroed while nothing is written */
    FILE *f;
    uint64_t left; /* bytes still to put */
} myth_safetensors;

myth_status myth_safetensors_begin(myth_safetensors *out, const char *path, const myth_safetensor *tensor, size_t n,
                                   const myth_safetensor_meta *meta, size_t n_meta, myth_error *err);
void myth_safetensors_put(myth_safetensors *s, const void *bytes, size_t n); /* a failure is told by end */
myth_status myth_safetensors_end(myth_safetensors *s, myth_error *err);
void myth_safetensors_abandon(myth_safetensors *s); /* takes a zeroed, an ended or an open one */

#ifdef __cplusplus
}
#endif
#endif
