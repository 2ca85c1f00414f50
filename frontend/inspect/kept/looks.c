/* looks.c - hashes what is at a path. */
#include "looks.h"

#include "engine/base/array.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#define XXH_STATIC_LINKING_ONLY
#include <xxhash.h>

enum { HASH_BYTES = 16, HEAD_BYTES = 1 + HASH_BYTES + 4, PIECE_BYTES = 1 << 16 };

static void add_text(XXH3_state_t *h, const char *text) { XXH3_128bits_update(h, text, strlen(text) + 1); }

static void add_bytes_of(XXH3_state_t *h, const char *path)
{
    static unsigned char piece[PIECE_BYTES];
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = -1;
    while (fd >= 0 && (n = read(fd, piece, sizeof(piece))) > 0)
        XXH3_128bits_update(h, piece, (size_t)n);
    if (fd >= 0)
        close(fd);
    add_text(h, n < 0 ? "unreadable" : "end");
}

static void add_file(XXH3_state_t *h, const char *path)
{
    char real[PATH_MAX];
    struct stat sb;
    if (!realpath(path, real) || stat(real, &sb) != 0) {
        add_text(h, "none");
        return;
    }
    add_text(h, real);
    if (S_ISREG(sb.st_mode))
        add_bytes_of(h, real);
    else
        add_text(h, S_ISDIR(sb.st_mode) ? "folder" : "other");
}

static void add_folder(XXH3_state_t *h, const char *path)
{
    struct dirent **entry = NULL;
    const int n = scandir(path, &entry, NULL, alphasort);
    add_text(h, n < 0 ? "none" : "names");
    for (int i = 0; i < n; i++) {
        char whole[PATH_MAX + 300];
        struct stat sb = {0};
        snprintf(whole, sizeof(whole), "%s/%s", path, entry[i]->d_name);
        const unsigned kind = stat(whole, &sb) == 0 ? (unsigned)sb.st_mode & S_IFMT : 0;
        add_text(h, entry[i]->d_name);
        XXH3_128bits_update(h, &kind, sizeof(kind));
        free(entry[i]);
    }
    free(entry);
}

/* Hashes what is at the path now. False: no memory. */
static bool look(unsigned char hash[HASH_BYTES], const char *path, bool is_folder)
{
    XXH128_canonical_t c;
    XXH3_state_t *h = XXH3_createState();
    if (!h)
        return false;
    XXH3_128bits_reset(h);
    (is_folder ? add_folder : add_file)(h, path);
    XXH128_canonicalFromHash(&c, XXH3_128bits_digest(h));
    memcpy(hash, c.digest, HASH_BYTES);
    XXH3_freeState(h);
    return true;
}

/* The row at *at, and *at behind it; false at the end, or when the rest is no row. */
static bool next_row(const unsigned char *row, size_t n, size_t *at, const unsigned char **head, uint32_t *n_path)
{
    if (n - *at < HEAD_BYTES)
        return false;
    *head = row + *at;
    const unsigned char *len = *head + 1 + HASH_BYTES;
    *n_path = (uint32_t)len[0] | (uint32_t)len[1] << 8 | (uint32_t)len[2] << 16 | (uint32_t)len[3] << 24;
    if (*n_path >= PATH_MAX || *n_path > n - *at - HEAD_BYTES)
        return false;
    *at += HEAD_BYTES + *n_path;
    return true;
}

static bool has(const myth_looks *l, const char *path, bool is_folder)
{
    const unsigned char *head;
    uint32_t n_path;
    const size_t n = strlen(path);
    for (size_t at = 0; next_row(l->row, l->n, &at, &head, &n_path);)
        if (head[0] == is_folder && n_path == n && !memcmp(head + HEAD_BYTES, path, n))
            return true;
    return false;
}

void myth_looks_add(myth_looks *l, const char *path, bool is_folder)
{
    const size_t n = strlen(path);
    if (!l->mem || l->is_lost || (l->n && has(l, path, is_folder)))
        return;
    if (l->n_look == MYTH_LOOKS_MAX || n >= PATH_MAX ||
        !MYTH_ARRAY_MORE(l->mem, MYTH_MEM_OTHER, "looks", &l->row, l->n, HEAD_BYTES + n, &l->cap) ||
        !look(l->row + l->n + 1, path, is_folder)) {
        l->is_lost = true;
        return;
    }
    unsigned char *head = l->row + l->n;
    head[0] = is_folder;
    for (int i = 0; i < 4; i++)
        head[1 + HASH_BYTES + i] = (unsigned char)(n >> 8 * i);
    memcpy(head + HEAD_BYTES, path, n);
    l->n += HEAD_BYTES + n;
    l->n_look++;
}

void myth_looks_file(void *looks, const char *path)
{
    if (looks)
        myth_looks_add(looks, path, false);
}

void myth_looks_close(myth_looks *l)
{
    if (l->mem)
        myth_free(l->mem, l->row);
    *l = (myth_looks){0};
}

bool myth_looks_hold(const unsigned char *row, size_t n)
{
    const unsigned char *head;
    unsigned char now[HASH_BYTES];
    char path[PATH_MAX];
    uint32_t n_path;
    size_t at = 0;
    while (next_row(row, n, &at, &head, &n_path)) {
        memcpy(path, head + HEAD_BYTES, n_path);
        path[n_path] = '\0';
        if (head[0] > 1 || !look(now, path, head[0] == 1) || memcmp(now, head + 1, HASH_BYTES) != 0)
            return false;
    }
    return at == n;
}
