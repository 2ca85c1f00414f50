/* gguf_write.h - a GGUF file written front to back: facts, directory, data. Nothing but one buffer is held in memory.
 *
 * Order    open; put_* ; declare every tensor; then the bytes of each tensor in that order (data); close
 * File     version 3, alignment 32, written beside its name, synced and renamed by close (outfile.h)
 * Memory   one buffer of MYTH_GGUF_BUFFER bytes and 8 bytes for each tensor, class STAGING
 * Errors   the writer keeps the first failure and turns the rest into no-ops; close reports it and removes the
 *          unfinished file. MYTH_ECREATE, MYTH_EIO, MYTH_ENOMEM
 * Source   GGUF specification, version 3 */
#ifndef MYTH_GGUF_WRITE_H
#define MYTH_GGUF_WRITE_H

#include "engine/model/weights.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MYTH_GGUF_BUFFER = 1 << 16, MYTH_GGUF_ALIGN = 32 };

/* Value types of the format. */
enum {
    MYTH_GGUF_U8,
    MYTH_GGUF_I8,
    MYTH_GGUF_U16,
    MYTH_GGUF_I16,
    MYTH_GGUF_U32,
    MYTH_GGUF_I32,
    MYTH_GGUF_F32,
    MYTH_GGUF_BOOL,
    MYTH_GGUF_STRING,
    MYTH_GGUF_ARRAY,
    MYTH_GGUF_U64,
    MYTH_GGUF_I64,
    MYTH_GGUF_F64
};

typedef struct myth_gguf_writer myth_gguf_writer;

myth_status myth_gguf_open(myth_gguf_writer **out, myth_mem *mem, const char *path, uint32_t n_tensor, myth_error *err);
/* Finishes the file when is_complete and nothing failed; else removes it. Takes NULL (MYTH_OK). */
myth_status myth_gguf_close(myth_gguf_writer *g, bool is_complete, myth_error *err);
uint64_t myth_gguf_bytes(uint32_t n_tensor);             /* what open books */
myth_status myth_gguf_status(const myth_gguf_writer *g); /* the first failure so far */

void myth_gguf_put_u32(myth_gguf_writer *g, const char *key, uint32_t v);
void myth_gguf_put_f32(myth_gguf_writer *g, const char *key, float v);
void myth_gguf_put_bool(myth_gguf_writer *g, const char *key, bool v);
void myth_gguf_put_str(myth_gguf_writer *g, const char *key, myth_str v);
/* Then exactly count elements by item_*. */
void myth_gguf_put_array(myth_gguf_writer *g, const char *key, uint32_t elem_type, uint64_t count);
void myth_gguf_item_str(myth_gguf_writer *g, myth_str v);
void myth_gguf_item_f32(myth_gguf_writer *g, float v);
void myth_gguf_item_i32(myth_gguf_writer *g, int32_t v);
void myth_gguf_item_bool(myth_gguf_writer *g, bool v);
/* A value of another GGUF file, of any type, as it is there. */
void myth_gguf_put_value(myth_gguf_writer *g, const myth_meta_value *v);

/* The next entry of the directory; dims outermost first. Its bytes are implied by shape and type. */
void myth_gguf_declare(myth_gguf_writer *g, myth_str name, myth_dtype type, uint32_t n_dim, const uint64_t *dim);
/* The next bytes of the data; padding between tensors is put where one is complete. */
void myth_gguf_data(myth_gguf_writer *g, const void *src, uint64_t bytes);

#ifdef __cplusplus
}
#endif
#endif
