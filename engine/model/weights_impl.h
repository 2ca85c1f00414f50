/* weights_impl.h - what the readers of weights share: the open object and the tensor directory. Included by weights*.c
 * only.
 *
 * Directory   one block (class OTHER): tensors, hash index of their names, spans for the overlap check, copied names
 * Skip list   towers of multimodal checkpoints, and an lm_head that is tied to the embedding, are checked like any
 *             tensor, then left out */
#ifndef MYTH_WEIGHTS_IMPL_H
#define MYTH_WEIGHTS_IMPL_H

#include "engine/base/bytes.h"
#include "engine/base/map.h"
#include "weights.h"

#include <limits.h>

enum { MYTH_TENSOR_NAME_MAX = 255 };

/* A tensor's bytes relative to the start of its file's data. */
typedef struct {
    uint64_t begin, end;
    uint32_t tensor, shard;
    bool is_left_out;
} myth_span;

struct myth_weights {
    myth_mem *mem;
    myth_weights_level level;
    myth_weights_format format;
    bool is_read, is_piece;
    myth_watch watch;  /* while it opens */
    bool has_namesake; /* the spec is a path, and the cache has a model of that name too */
    char path[PATH_MAX], dir[PATH_MAX], name[256], prefix[32];
    myth_meta *meta;
    myth_map *file;
    uint32_t n_file;

    void *block;
    uint64_t block_bytes;
    myth_tensor *tensor;
    myth_span *span; /* span[i] belongs to tensor[i] until the directory is finished */
    uint32_t *slot;  /* tensor index + 1, open addressing */
    char *text;
    uint64_t text_used, text_cap;
    uint32_t n_tensor, cap_tensor, n_slot;

    uint64_t bytes, mapped, seed;
};

/* Takes the directory's block. MYTH_EFORMAT when n is above MYTH_TENSOR_MAX. */
myth_status myth_dir_open(myth_weights *w, uint64_t n_tensor, uint64_t text_bytes, myth_error *err);
/* Adds a tensor; copies the name. NULL: it is there already (or the counts that open was given are used up). */
myth_tensor *myth_dir_add(myth_weights *w, const char *name, size_t len);
/* Copies text to the block, with a NUL behind it. */
char *myth_dir_text(myth_weights *w, const char *text, size_t len);
myth_tensor *myth_dir_find(const myth_weights *w, const char *name, size_t len);
/* Checks the type's block and that the product of dims and the bytes do not overflow; sets bytes. dims are set. */
myth_status myth_dir_size(myth_tensor *t, const char *path, myth_error *err);
/* Drops what is left out, sums bytes. */
void myth_dir_finish(myth_weights *w);
/* Printable ASCII without spaces, 1..MYTH_TENSOR_NAME_MAX bytes. */
bool myth_dir_is_name(const char *name, size_t len);
/* The file that stands at `name` inside folder `dir`, links followed and checked (weights.h). MYTH_ENOTFOUND,
 * MYTH_EFORMAT. */
myth_status myth_dir_member(char dst[PATH_MAX], const char *dir, const char *name, myth_error *err);
/* Opens a tensor file; at level DATA with pread it is read. */
myth_status myth_weights_map(myth_weights *w, myth_map *map, const char *path, unsigned flags, myth_error *err);

/* A part of a split GGUF file, by its name. */
typedef struct {
    size_t n_prefix;    /* bytes of the path before "-00001-of-00003.gguf" */
    uint32_t no, count; /* no counts from 1 */
} myth_part_name;

bool myth_part_read(myth_part_name *out, const char *path);

/* The formats. w->path (a file, or a folder) and w->dir are set. `named` is the path by which a GGUF file was named,
 * before links were followed: beside it are the other parts when it is split. */
myth_status myth_weights_open_safetensors(myth_weights *w, const char *file, bool is_index, myth_error *err);
myth_status myth_weights_open_gguf(myth_weights *w, const char *named, myth_error *err);
/* MYTH_EUNSUPPORTED for a path whose weights are pickled (torch.save). */
myth_status myth_weights_fail_pickled(const char *path, myth_error *err);
myth_status myth_weights_open_random(myth_weights *w, const char *spec, myth_error *err);
#endif
