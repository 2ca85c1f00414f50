/* similar.c - see similar.h. */
#include "similar.h"
#include "engine/base/array.h"
#include "engine/base/map.h"

#include <stdint.h>
#include <stdlib.h>

enum {
    PIECE_BYTES = 64,
    LOOK_BYTES = 8000, /* git looks for a zero byte in the first 8000 to tell text */
    HASHES = 107927
};

typedef struct {
    uint32_t hash;
    uint32_t bytes; /* of all pieces with this hash */
} piece;

/* A file as libgit2 keeps it. */
typedef struct {
    size_t bytes; /* of the whole file */
    size_t n;
    piece piece[]; /* ascending by hash, each hash once */
} signature;

static int by_hash(const void *a, const void *b)
{
    const uint32_t x = ((const piece *)a)->hash, y = ((const piece *)b)->hash;
    return x < y ? -1 : x > y;
}

/* The piece that begins at text. Returns the bytes that it takes of the n; its own count lacks a CR before LF. The hash
 * is git's, because different lines with one hash are equal to git: 64 bits are turned left by 7, then a character is
 * added to the upper half; both halves give a number below HASHES. */
static size_t next_piece(piece *p, const char *text, size_t n, bool is_text)
{
    uint32_t high = 0, low = 0;
    size_t at = 0;
    p->bytes = 0;
    while (at < n && p->bytes < PIECE_BYTES) {
        const unsigned char c = (unsigned char)text[at++];
        if (is_text && c == '\r' && at < n && text[at] == '\n')
            continue;
        const uint64_t both = (uint64_t)high << 32 | low, turned = both << 7 | both >> 57;
        high = (uint32_t)(turned >> 32) + c;
        low = (uint32_t)turned;
        p->bytes++;
        if (c == '\n')
            break;
    }
    p->hash = (high + low * 0x61u) % HASHES;
    return at;
}

/* Sorts the pieces and adds up those that are equal. Returns how many remain. */
static size_t add_up(piece *p, size_t n)
{
    size_t n_kept = 0;
    qsort(p, n, sizeof(*p), by_hash);
    for (size_t i = 0; i < n; i++) {
        if (n_kept && p[n_kept - 1].hash == p[i].hash)
            p[n_kept - 1].bytes += p[i].bytes;
        else
            p[n_kept++] = p[i];
    }
    return n_kept;
}

static int sign_bytes(void **out, const git_diff_file *file, const char *text, size_t n, void *payload)
{
    const myth_similar *s = payload;
    const bool is_text = !memchr(text, 0, n < LOOK_BYTES ? n : LOOK_BYTES);
    signature *sig = NULL;
    piece *all = NULL;
    size_t n_all = 0, cap = 0, used;
    (void)file;
    *out = NULL;
    if (n > s->max_bytes || n > UINT32_MAX)
        return 0;
    for (size_t at = 0; at < n; at += used) {
        if (!MYTH_ARRAY_ROOM(s->mem, MYTH_MEM_STAGING, "renames", &all, n_all, &cap))
            goto failed;
        used = next_piece(&all[n_all++], text + at, n - at, is_text);
    }
    if (n_all)
        n_all = add_up(all, n_all);
    sig = myth_alloc(s->mem, MYTH_MEM_STAGING, "renames", sizeof(*sig) + n_all * sizeof(piece));
    if (!sig)
        goto failed;
    sig->bytes = n;
    sig->n = n_all;
    if (n_all)
        memcpy(sig->piece, all, n_all * sizeof(piece));
    *out = sig;
failed:
    myth_free(s->mem, all);
    return sig ? 0 : GIT_ERROR;
}

static int sign_file(void **out, const git_diff_file *file, const char *path, void *payload)
{
    const myth_similar *s = payload;
    unsigned char *text;
    size_t n;
    const myth_status st = myth_file_read(&text, &n, s->mem, path, s->max_bytes, NULL);
    *out = NULL;
    if (st != MYTH_OK)
        return st == MYTH_ENOMEM ? GIT_ERROR : 0;
    const int rc = sign_bytes(out, file, (const char *)text, n, payload);
    myth_free(s->mem, text);
    return rc;
}

static void free_signature(void *sig, void *payload) { myth_free(((myth_similar *)payload)->mem, sig); }

static int compare(int *score, void *first, void *second, void *payload)
{
    const signature *a = first, *b = second;
    const size_t larger = a->bytes > b->bytes ? a->bytes : b->bytes;
    uint64_t common = 0;
    (void)payload;
    for (size_t i = 0, j = 0; i < a->n && j < b->n;) {
        const uint32_t x = a->piece[i].hash, y = b->piece[j].hash;
        if (x == y)
            common += a->piece[i].bytes < b->piece[j].bytes ? a->piece[i].bytes : b->piece[j].bytes;
        i += x <= y;
        j += y <= x;
    }
    *score = larger ? (int)(common * 100 / larger) : 0;
    return 0;
}

void myth_similar_init(myth_similar *s, myth_mem *mem, size_t max_bytes)
{
    *s = (myth_similar){.mem = mem, .max_bytes = max_bytes};
    s->metric = (git_diff_similarity_metric){.file_signature = sign_file,
                                             .buffer_signature = sign_bytes,
                                             .free_signature = free_signature,
                                             .similarity = compare,
                                             .payload = s};
}
