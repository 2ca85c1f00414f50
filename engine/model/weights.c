/* weights.c - from a spec to files, and the tensor directory that the formats fill.
 *
 * Spec     an existing path, "random:...", or ORG/NAME looked up in the local Hugging Face cache:
 *              <hub>/models--ORG--NAME/refs/main           holds the name of a snapshot
 *              <hub>/models--ORG--NAME/snapshots/<name>/   links into ../../blobs
 * Folder   model.safetensors, else model.safetensors.index.json, else the only *.safetensors, else the only *.gguf or
 *          the parts of one, else (level CONFIG) config.json alone */
#include "weights_impl.h"
#include "engine/base/table.h"
#include "engine/base/text.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- directory ---- */

myth_status myth_dir_open(myth_weights *w, uint64_t n_tensor, uint64_t text_bytes, myth_error *err)
{
    if (n_tensor > MYTH_TENSOR_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: more than %d tensors", w->path, MYTH_TENSOR_MAX);
    if (n_tensor == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: no tensors", w->path);
    const uint32_t n_slot = myth_table_slots(n_tensor); /* n_tensor is at most MYTH_TENSOR_MAX */
    uint64_t bytes = 0, text, part[3];
    if (!myth_mul_u64(&part[0], n_tensor, sizeof(myth_tensor)) ||
        !myth_mul_u64(&part[1], n_tensor, sizeof(myth_span)) || !myth_mul_u64(&part[2], n_slot, sizeof(uint32_t)))
        return myth_fail(err, MYTH_EFORMAT, "%s: more than %d tensors", w->path, MYTH_TENSOR_MAX);
    for (int i = 0; i < 3; i++)
        bytes += part[i]; /* at most MYTH_TENSOR_MAX entries each */
    if (!myth_add_u64(&text, text_bytes, n_tensor) || !myth_add_u64(&bytes, bytes, text) || bytes > PTRDIFF_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: names do not fit memory", w->path);
    w->block = myth_alloc(w->mem, MYTH_MEM_OTHER, "tensor directory", (size_t)bytes);
    if (!w->block)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %llu bytes of tensor directory", w->path,
                         (unsigned long long)bytes);
    myth_reader r = {w->block, bytes, 0};
    w->block_bytes = bytes;
    w->tensor = (myth_tensor *)(uintptr_t)myth_reader_take(&r, part[0]);
    w->span = (myth_span *)(uintptr_t)myth_reader_take(&r, part[1]);
    w->slot = (uint32_t *)(uintptr_t)myth_reader_take(&r, part[2]);
    w->text = (char *)(uintptr_t)myth_reader_take(&r, text);
    w->text_cap = text;
    w->cap_tensor = (uint32_t)n_tensor;
    w->n_slot = n_slot;
    return MYTH_OK;
}

static bool is_name(const void *w, uint32_t idx, const void *key)
{
    const myth_str *k = &((const myth_weights *)w)->tensor[idx].name, *name = key;
    return k->len == name->len && memcmp(k->text, name->text, name->len) == 0;
}

static uint32_t *slot_of(const myth_weights *w, const char *name, size_t len)
{
    return myth_table_find(w->slot, w->n_slot, myth_hash_bytes(name, len), is_name, w, &(myth_str){name, len});
}

char *myth_dir_text(myth_weights *w, const char *text, size_t len)
{
    if (len >= w->text_cap - w->text_used)
        return NULL;
    char *p = w->text + w->text_used;
    memcpy(p, text, len);
    p[len] = 0;
    w->text_used += len + 1; /* <= text_cap, by the check above */
    return p;
}

myth_tensor *myth_dir_add(myth_weights *w, const char *name, size_t len)
{
    uint32_t *s = slot_of(w, name, len);
    const char *copy;
    if (*s != 0 || w->n_tensor == w->cap_tensor || !(copy = myth_dir_text(w, name, len)))
        return NULL;
    myth_tensor *t = &w->tensor[w->n_tensor];
    t->name = (myth_str){copy, len};
    w->span[w->n_tensor].tensor = w->n_tensor;
    *s = ++w->n_tensor;
    return t;
}

myth_tensor *myth_dir_find(const myth_weights *w, const char *name, size_t len)
{
    uint32_t s = w->n_tensor ? *slot_of(w, name, len) : 0;
    return s ? &w->tensor[s - 1] : NULL;
}

bool myth_dir_is_name(const char *name, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (name[i] <= ' ' || name[i] > '~')
            return false;
    return len >= 1 && len <= MYTH_TENSOR_NAME_MAX;
}

myth_status myth_dir_size(myth_tensor *t, const char *path, myth_error *err)
{
    uint64_t n = 1, block = myth_dtype_block(t->dtype);
    for (uint32_t i = 0; i < t->n_dim; i++) {
        if (t->dim[i] == 0 || t->dim[i] > INT64_MAX)
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: dimension %llu", path, t->name.text,
                             (unsigned long long)t->dim[i]);
        if (!myth_mul_u64(&n, n, t->dim[i]))
            return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: shape overflows", path, t->name.text);
    }
    if (t->n_dim && t->dim[t->n_dim - 1] % block)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: rows of %llu elements of %s, expected a multiple of %llu",
                         path, t->name.text, (unsigned long long)t->dim[t->n_dim - 1], myth_dtype_get(t->dtype)->name,
                         (unsigned long long)block);
    if (!myth_mul_u64(&t->bytes, n / block, myth_dtype_block_bytes(t->dtype)) || t->bytes > INT64_MAX)
        return myth_fail(err, MYTH_EFORMAT, "%s: tensor %s: size overflows", path, t->name.text);
    return MYTH_OK;
}

void myth_dir_finish(myth_weights *w)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < w->n_tensor; i++)
        if (!w->span[i].is_left_out)
            w->tensor[n++] = w->tensor[i];
    w->n_tensor = n;
    memset(w->slot, 0, sizeof(uint32_t) * (size_t)w->n_slot);
    for (uint32_t i = 0; i < n; i++) {
        *slot_of(w, w->tensor[i].name.text, w->tensor[i].name.len) = i + 1;
        w->bytes += w->tensor[i].bytes; /* each is a span of a file, or of a random: model of known shape */
    }
}

/* ---- files ---- */

static bool join(char dst[PATH_MAX], const char *dir, const char *name)
{
    int n = snprintf(dst, PATH_MAX, "%s/%s", dir, name);
    return n > 0 && n < PATH_MAX;
}

static bool is_inside(const char *path, const char *dir)
{
    size_t n = strlen(dir);
    return strncmp(path, dir, n) == 0 && path[n] == '/';
}

/* <root>/snapshots/<revision> -> <root>/blobs */
static bool blobs_of(char dst[PATH_MAX], const char *real_dir)
{
    const char *rev = strrchr(real_dir, '/');
    static const char tail[] = "/snapshots";
    size_t n = rev ? (size_t)(rev - real_dir) : 0, k = sizeof(tail) - 1;
    if (n < k || memcmp(real_dir + n - k, tail, k) != 0)
        return false;
    int len = snprintf(dst, PATH_MAX, "%.*s/blobs", (int)(n - k), real_dir);
    return len > 0 && len < PATH_MAX;
}

myth_status myth_dir_member(char dst[PATH_MAX], const char *dir, const char *name, myth_error *err)
{
    char path[PATH_MAX], real_dir[PATH_MAX], blobs[PATH_MAX];
    struct stat st;
    if (name[0] == 0 || name[0] == '.' || strchr(name, '/'))
        return myth_fail(err, MYTH_EFORMAT, "%s: \"%s\": expected the plain name of a file in this folder", dir, name);
    if (!join(path, dir, name))
        return myth_fail(err, MYTH_EFORMAT, "%s/%s: path too long", dir, name);
    if (!realpath(path, dst) || !realpath(dir, real_dir))
        return myth_fail(err, errno == ENOENT ? MYTH_ENOTFOUND : MYTH_EIO, "%s: %s", path, strerror(errno));
    if (!is_inside(dst, real_dir) && !(blobs_of(blobs, real_dir) && is_inside(dst, blobs)))
        return myth_fail(err, MYTH_EFORMAT, "%s: links to a file outside its folder", path);
    if (stat(dst, &st) != 0 || !S_ISREG(st.st_mode))
        return myth_fail(err, MYTH_EFORMAT, "%s: not a regular file", path);
    return MYTH_OK;
}

myth_status myth_weights_map(myth_weights *w, myth_map *map, const char *path, unsigned flags, myth_error *err)
{
    if (w->level == MYTH_WEIGHTS_DATA && w->is_read)
        flags |= MYTH_MAP_READ;
    return myth_map_open_watched(map, w->mem, path, flags, MYTH_MEM_WEIGHTS, &w->watch, err);
}

/* ---- facts of a folder ---- */

/* config.json, which a piece may lack, and generation_config.json where there is one. Messages name a file by its place
 * in the folder, not by where a link there leads. */
static myth_status read_facts(myth_weights *w, myth_error *err)
{
    static const struct {
        const char *file, *prefix;
    } part[] = {
        {"config.json", ""},
        {"generation_config.json", "generation_config."},
    };
    enum { N = sizeof(part) / sizeof(part[0]) };
    myth_map map[N] = {0};
    myth_meta_size size = {0};
    char path[PATH_MAX], named[N][PATH_MAX];
    myth_status st = MYTH_OK;
    for (int i = 0; i < N; i++) {
        st = myth_dir_member(path, w->dir, part[i].file, err);
        if (st == MYTH_ENOTFOUND && (i > 0 || w->is_piece)) {
            st = MYTH_OK;
            continue;
        }
        if (st == MYTH_OK && !join(named[i], w->dir, part[i].file))
            st = myth_fail(err, MYTH_EFORMAT, "%s/%s: path too long", w->dir, part[i].file);
        if (st == MYTH_OK)
            st = myth_map_open(&map[i], w->mem, path, MYTH_MAP_NOFOLLOW, MYTH_MEM_OTHER, err);
        MYTH_TRY(st);
        MYTH_TRY(myth_meta_json_measure(&size, map[i].base, map[i].size, named[i], part[i].prefix, err));
    }
    MYTH_TRY(myth_meta_open(&w->meta, w->mem, &size, err));
    for (int i = 0; i < N; i++)
        if (map[i].mem)
            MYTH_TRY(myth_meta_json_add(w->meta, map[i].base, map[i].size, named[i], part[i].prefix, err));
fail:
    for (int i = 0; i < N; i++)
        myth_map_close(&map[i]);
    return st;
}

/* ---- what a spec means ---- */

enum { LISTED = 3 }; /* names in the message about a folder of several models */

typedef struct {
    bool has_model, has_index, has_config, has_pickled;
    bool is_one; /* the .gguf files are the parts of one by their names, or one file */
    unsigned n_safetensors, n_gguf;
    char safetensors[256], gguf[LISTED][256]; /* gguf: the first by name */
} folder;

/* Whether two names are those of parts of one file. */
static bool is_same_split(const char *a, const char *b)
{
    myth_part_name x, y;
    return myth_part_read(&x, a) && myth_part_read(&y, b) && x.count == y.count && x.n_prefix == y.n_prefix &&
           memcmp(a, b, x.n_prefix) == 0;
}

static void note_gguf(folder *f, const char *name)
{
    f->is_one = f->n_gguf == 0 || (f->is_one && is_same_split(f->gguf[0], name));
    unsigned at = f->n_gguf < LISTED ? f->n_gguf : LISTED;
    f->n_gguf++;
    while (at > 0 && strcmp(name, f->gguf[at - 1]) < 0)
        at--;
    if (at < LISTED) {
        memmove(f->gguf[at + 1 < LISTED ? at + 1 : at], f->gguf[at], (LISTED - 1 - at) * sizeof(f->gguf[0]));
        snprintf(f->gguf[at], sizeof(f->gguf[at]), "%s", name);
    }
}

static myth_status list_folder(folder *f, const char *path, myth_error *err)
{
    *f = (folder){0};
    DIR *d = opendir(path);
    if (!d)
        return myth_fail(err, MYTH_EIO, "%s: %s", path, strerror(errno));
    for (const struct dirent *e; (e = readdir(d));) {
        const char *n = e->d_name;
        if (n[0] == '.')
            continue;
        f->has_model |= strcmp(n, "model.safetensors") == 0;
        f->has_index |= strcmp(n, "model.safetensors.index.json") == 0;
        f->has_config |= strcmp(n, "config.json") == 0;
        f->has_pickled |= strncmp(n, "pytorch_model", strlen("pytorch_model")) == 0; /* .bin, its parts, their index */
        if (myth_text_ends(n, ".safetensors") && f->n_safetensors++ == 0)
            snprintf(f->safetensors, sizeof(f->safetensors), "%s", n);
        if (myth_text_ends(n, ".gguf"))
            note_gguf(f, n);
    }
    closedir(d);
    return MYTH_OK;
}

static myth_status fail_several(const folder *f, const char *path, myth_error *err)
{
    char more[32] = "";
    if (f->n_gguf > LISTED)
        snprintf(more, sizeof(more), " and %u more", f->n_gguf - LISTED);
    return myth_fail(err, MYTH_ENOTFOUND,
                     "%.60s: %u .gguf files that are not the parts of one; name one of them: %.40s, "
                     "%.40s%s%.40s%s",
                     path, f->n_gguf, f->gguf[0], f->gguf[1], f->n_gguf > 2 ? ", " : "", f->gguf[2], more);
}

myth_status myth_weights_fail_pickled(const char *path, myth_error *err)
{
    return myth_fail(err, MYTH_EUNSUPPORTED,
                     "%.160s: pickled weights are not read; save them with save_pretrained(safe_serialization=True)",
                     path);
}

static myth_status open_folder(myth_weights *w, myth_error *err)
{
    folder f;
    char dir[PATH_MAX], named[PATH_MAX];
    myth_status st = list_folder(&f, w->path, err);
    if (st != MYTH_OK)
        return st;
    const char *file = f.has_model ? "model.safetensors" : f.has_index ? "model.safetensors.index.json" : f.safetensors;
    bool has_safetensors = f.has_model || f.has_index || f.n_safetensors == 1;
    if (!has_safetensors && f.n_gguf && f.is_one) {
        memcpy(dir, w->path, sizeof(dir));
        st = myth_dir_member(w->path, dir, f.gguf[0], err);
        if (st == MYTH_OK && !join(named, dir, f.gguf[0]))
            st = myth_fail(err, MYTH_EFORMAT, "%s/%s: path too long", dir, f.gguf[0]);
        return st == MYTH_OK ? myth_weights_open_gguf(w, named, err) : st;
    }
    if (!has_safetensors && f.n_gguf)
        return fail_several(&f, w->path, err);
    if (!has_safetensors && f.has_pickled && (!f.has_config || w->level != MYTH_WEIGHTS_CONFIG))
        return myth_weights_fail_pickled(w->path, err);
    if (!f.has_config)
        return w->has_namesake
                 ? myth_fail(err, MYTH_ENOTFOUND,
                             "%s: this folder has no model, and hides the one of that name in the Hugging Face cache; "
                             "rename the folder, or start from another folder",
                             w->path)
                 : myth_fail(
                       err, MYTH_ENOTFOUND,
                       "%s: a folder without a model: no config.json, no .gguf file; name a model's folder or file",
                       w->path);
    memcpy(w->dir, w->path, sizeof(w->dir));
    if ((st = read_facts(w, err)) != MYTH_OK || w->level == MYTH_WEIGHTS_CONFIG)
        return st;
    if (!has_safetensors)
        return myth_fail(err, MYTH_ENOTFOUND, "%s: no model.safetensors, and %u other .safetensors files", w->path,
                         f.n_safetensors);
    return myth_weights_open_safetensors(w, file, !f.has_model && f.has_index, err);
}

static myth_status open_file(myth_weights *w, myth_error *err)
{
    if (!myth_text_ends(w->path, ".safetensors")) {
        char named[PATH_MAX];
        memcpy(named, w->path, sizeof(named));
        return myth_weights_open_gguf(w, named, err);
    }
    const char *slash = strrchr(w->path, '/');
    snprintf(w->dir, sizeof(w->dir), "%.*s", slash ? (int)(slash - w->path) : 1, slash ? w->path : ".");
    if (w->dir[0] == 0)
        memcpy(w->dir, "/", 2);
    myth_status st = read_facts(w, err);
    if (st != MYTH_OK || w->level == MYTH_WEIGHTS_CONFIG)
        return st;
    return myth_weights_open_safetensors(w, NULL, false, err);
}

/* ORG/NAME of letters, digits, '-', '_', '.'; each part starts with a letter or digit. */
static bool is_hub_id(const char *s)
{
    int slashes = 0;
    for (const char *p = s; *p; p++) {
        bool is_start = p == s || p[-1] == '/';
        bool is_alnum = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9');
        if (!is_alnum && (is_start || !strchr("-_./", *p)))
            return false;
        slashes += *p == '/';
    }
    return slashes == 1 && s[strlen(s) - 1] != '/' && strlen(s) < 200;
}

/* The snapshot that refs/main names, 1..64 letters and digits. */
static bool read_ref(char dst[65], const char *path)
{
    FILE *f = fopen(path, "re");
    size_t n = f ? fread(dst, 1, 64, f) : 0;
    if (f)
        fclose(f);
    dst[n] = 0;
    dst[strcspn(dst, "\r\n")] = 0;
    return dst[0] && dst[strspn(dst, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")] == 0;
}

/* The folder of a model in the cache `hub`; false when it has none. */
static bool cache_folder(char dst[PATH_MAX], const char *hub, const char *id)
{
    char path[PATH_MAX], rev[65];
    const char *slash = strchr(id, '/');
    struct stat st;
    const int org = (int)(slash - id);
    if (!hub)
        return false;
    int n = snprintf(path, sizeof(path), "%s/models--%.*s--%s/refs/main", hub, org, id, slash + 1);
    if (n <= 0 || n >= PATH_MAX || !read_ref(rev, path))
        return false;
    n = snprintf(dst, PATH_MAX, "%s/models--%.*s--%s/snapshots/%s", hub, org, id, slash + 1, rev);
    return n > 0 && n < PATH_MAX && stat(dst, &st) == 0 && S_ISDIR(st.st_mode);
}

static myth_status find_in_cache(myth_weights *w, const char *hub, const char *id, myth_error *err)
{
    if (!hub)
        return myth_fail_option(err, MYTH_ENOTFOUND, "hub_dir", "%s: no such path, and no cache folder: set hub_dir",
                                id);
    if (cache_folder(w->path, hub, id)) {
        snprintf(w->name, sizeof(w->name), "%s", id);
        return open_folder(w, err);
    }
    return myth_fail(err, MYTH_ENOTFOUND, "%s: no such path, and not in the cache; fetch it with: hf download %s", id,
                     id);
}

static void name_after_path(myth_weights *w)
{
    size_t n = strlen(w->path);
    while (n > 1 && w->path[n - 1] == '/')
        w->path[--n] = 0;
    const char *slash = strrchr(w->path, '/');
    snprintf(w->name, sizeof(w->name), "%.255s", slash && slash[1] ? slash + 1 : w->path);
}

myth_status myth_weights_open(myth_weights **out, myth_mem *mem, const char *spec, const myth_weights_opts *opts,
                              myth_error *err)
{
    struct stat info;
    const char *hub = opts ? opts->hub_dir : NULL;
    myth_status st = MYTH_OK;
    if (strlen(spec) >= PATH_MAX)
        return myth_fail(err, MYTH_EARG, "model path longer than %d bytes", PATH_MAX - 1);
    myth_weights *w = myth_alloc(mem, MYTH_MEM_OTHER, "weights", sizeof(*w));
    if (!w)
        return myth_fail(err, MYTH_ENOMEM, "%s: no room for %zu bytes", spec, sizeof(*w));
    w->mem = mem;
    w->level = opts ? opts->level : MYTH_WEIGHTS_DATA;
    w->is_read = opts && opts->pread;
    w->is_piece = opts && opts->is_piece;
    w->watch = opts ? opts->watch : (myth_watch){0};
    memcpy(w->path, spec, strlen(spec) + 1);
    if (strncmp(spec, "random:", 7) == 0) {
        snprintf(w->name, sizeof(w->name), "%.255s", spec);
        MYTH_TRY(myth_weights_open_random(w, spec + 7, err));
    } else if (stat(spec, &info) == 0) {
        char cached[PATH_MAX];
        w->has_namesake = is_hub_id(spec) && cache_folder(cached, hub, spec);
        name_after_path(w);
        MYTH_TRY(S_ISDIR(info.st_mode) ? open_folder(w, err) : open_file(w, err));
    } else if (errno != ENOENT && errno != ENOTDIR) {
        MYTH_TRY(myth_fail(err, MYTH_EIO, "%s: %s", spec, strerror(errno)));
    } else if (is_hub_id(spec)) {
        MYTH_TRY(find_in_cache(w, hub, spec, err));
    } else {
        MYTH_TRY(myth_fail(err, MYTH_ENOTFOUND, "%s: no such file or folder", spec));
    }
    w->watch = (myth_watch){0}; /* lent until here */
    *out = w;
    return MYTH_OK;
fail:
    myth_weights_close(w);
    return st;
}

void myth_weights_close(myth_weights *w)
{
    if (!w)
        return;
    myth_meta_close(w->meta);
    for (uint32_t i = 0; i < w->n_file; i++)
        myth_map_close(&w->file[i]);
    myth_free(w->mem, w->file);
    myth_free(w->mem, w->block);
    myth_free(w->mem, w);
}

/* ---- values ---- */

/* A quantised block is finite when its f16 fields are. mxfp4 has an exponent byte e instead: its largest value is
 * 12 * 2^(e - 128), finite up to e = 252. */
static bool is_finite_block(myth_dtype t, const unsigned char *p)
{
    const myth_dtype_info *info = myth_dtype_get(t);
    float f;
    uint16_t h;
    if (t == MYTH_F32) {
        memcpy(&f, p, 4);
        return isfinite(f);
    }
    if (t == MYTH_BF16) {
        memcpy(&h, p, 2);
        return (h & 0x7f80) != 0x7f80;
    }
    for (uint32_t i = 0; i < info->n_half; i++) {
        memcpy(&h, p + info->half_off + 2 * i, 2); /* a field of the block */
        if ((h & 0x7c00) == 0x7c00)
            return false;
    }
    return t != MYTH_MXFP4 || p[0] <= 252;
}

bool myth_tensor_is_finite(const myth_tensor *t)
{
    const unsigned char *p = t->data;
    uint32_t step = myth_dtype_block_bytes(t->dtype);
    for (uint64_t off = 0; off < t->bytes; off += step) /* whole blocks */
        if (!is_finite_block(t->dtype, p + off))
            return false;
    return true;
}

/* ---- getters ---- */

myth_weights_format myth_weights_get_format(const myth_weights *w) { return w->format; }
myth_weights_level myth_weights_get_level(const myth_weights *w) { return w->level; }
const char *myth_weights_path(const myth_weights *w) { return w->path; }
uint32_t myth_weights_n_file(const myth_weights *w) { return w->n_file; }
const char *myth_weights_file(const myth_weights *w, uint32_t idx) { return w->file[idx].path; }
bool myth_weights_has_namesake(const myth_weights *w) { return w->has_namesake; }
const char *myth_weights_dir(const myth_weights *w) { return w->dir[0] ? w->dir : NULL; }
const char *myth_weights_name(const myth_weights *w) { return w->name; }
const myth_meta *myth_weights_meta(const myth_weights *w) { return w->meta; }
uint32_t myth_weights_n_tensor(const myth_weights *w) { return w->n_tensor; }
const myth_tensor *myth_weights_at(const myth_weights *w, uint32_t idx) { return &w->tensor[idx]; }
const myth_tensor *myth_weights_find(const myth_weights *w, const char *name)
{
    return myth_dir_find(w, name, strlen(name));
}
uint64_t myth_weights_bytes(const myth_weights *w) { return w->bytes; }
uint64_t myth_weights_mapped(const myth_weights *w) { return w->mapped; }
bool myth_weights_is_read(const myth_weights *w) { return w->is_read; }

const myth_tensor *myth_weights_slot(const myth_weights *w, const char *hf_name, const char *gguf_name)
{
    char name[MYTH_TENSOR_NAME_MAX + 1];
    if (w->format != MYTH_FORMAT_SAFETENSORS)
        return myth_weights_find(w, gguf_name);
    if (strcmp(hf_name, "lm_head.weight") == 0) {
        const myth_tensor *t = myth_weights_find(w, hf_name);
        return t ? t : myth_weights_find(w, "language_model.lm_head.weight");
    }
    int n = snprintf(name, sizeof(name), "%s%s", w->prefix, hf_name);
    return n > 0 && (size_t)n < sizeof(name) ? myth_weights_find(w, name) : NULL;
}

bool myth_weights_is_untied(const myth_weights *w)
{
    static const char *const key[] = {"tie_word_embeddings", "text_config.tie_word_embeddings"};
    bool is_tied = true, flag;
    for (int i = 0; i < 2; i++)
        is_tied = is_tied && !(w->meta && myth_meta_bool(&flag, w->meta, key[i]) && !flag);
    return !is_tied;
}

myth_status myth_weights_check(const myth_weights *w, myth_error *err)
{
    for (uint32_t i = 0; i < w->n_file; i++) {
        myth_status st = myth_map_check(&w->file[i], err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

uint64_t myth_weights_booked(const myth_weights *w)
{
    uint64_t n = sizeof(*w) + w->block_bytes + (uint64_t)w->n_file * sizeof(*w->file); /* all of it is held */
    n += w->meta ? myth_meta_booked(w->meta) : 0;
    for (uint32_t i = 0; i < w->n_file; i++)
        n += w->file[i].path ? strlen(w->file[i].path) + 1 : 0;
    return n;
}
