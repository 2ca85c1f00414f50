/* chunks.c - see chunks.h. */
#include "chunks.h"
#include "retrieval/limits.h"

#include <ctype.h>

const char *chunks_worker(void)
{
    const char *path = getenv("MYTHOS_BIN");
    if (!path) {
        printf("MYTHOS_BIN is not set: the worker is the command itself\n");
        exit(CHECK_SKIP);
    }
    return path;
}

static uint64_t solid(const unsigned char *s, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n; i++)
        sum += !isspace(s[i]);
    return sum;
}

void chunks_check(const char *what, const myth_chunks *k, const unsigned char *text, uint64_t n)
{
    uint64_t at = 0;
    uint32_t line = 1;
    if (k->n_names < 1 || k->names[0] != '\0' || k->names[k->n_names - 1] != '\0')
        fail_msg("%s: names do not begin and end with a zero", what);
    for (uint32_t i = 0; i < k->n_chunk; i++) {
        const myth_chunk *c = &k->chunk[i];
        if (c->off != at || c->bytes == 0 || c->bytes > n - at)
            fail_msg("%s: chunk %u is %llu + %llu, expected it to begin at %llu of %llu", what, i,
                     (unsigned long long)c->off, (unsigned long long)c->bytes, (unsigned long long)at,
                     (unsigned long long)n);
        if (c->line0 != line)
            fail_msg("%s: chunk %u begins in line %u, said %u", what, i, line, c->line0);
        for (uint64_t p = 0; p + 1 < c->bytes; p++)
            line += text[at + p] == '\n';
        if (c->line1 != line)
            fail_msg("%s: chunk %u ends in line %u, said %u", what, i, line, c->line1);
        at += c->bytes;
        line += text[at - 1] == '\n';
        if ((unsigned)c->kind >= MYTH_CHUNK_KIND_N || c->symbol >= k->n_names || c->parent >= k->n_names ||
            c->doc_off > n || c->doc_bytes > n - c->doc_off)
            fail_msg("%s: chunk %u: kind, name or comment out of range", what, i);
        if (c->bytes > 5 * MYTH_CHUNK_BYTES || solid(text + c->off, c->bytes) > MYTH_CHUNK_BYTES + MYTH_CHUNK_BYTES / 4)
            fail_msg("%s: chunk %u has %llu bytes", what, i, (unsigned long long)c->bytes);
    }
    if (at != n)
        fail_msg("%s: chunks end at %llu of %llu", what, (unsigned long long)at, (unsigned long long)n);
    for (uint32_t i = 0; i < k->n_symbol; i++) {
        const myth_symbol *s = &k->symbol[i];
        uint32_t first = 1, last;
        if (s->off > n || s->bytes > n - s->off || s->bytes == 0 || s->name >= k->n_names || s->name == 0 ||
            s->parent >= k->n_names || s->signature_off > n || s->signature_bytes > n - s->signature_off ||
            (unsigned)s->kind >= MYTH_SYMBOL_KIND_N)
            fail_msg("%s: symbol %u out of range", what, i);
        for (uint64_t p = 0; p < s->off; p++)
            first += text[p] == '\n';
        last = first;
        for (uint64_t p = s->off; p + 1 < s->off + s->bytes; p++)
            last += text[p] == '\n';
        if (s->line0 != first || s->line1 != last || s->name_line == 0)
            fail_msg("%s: symbol %s is in lines %u to %u, said %u to %u", what, k->names + s->name, first, last,
                     s->line0, s->line1);
    }
    for (uint32_t i = 0; i < k->n_ref; i++)
        if (k->ref[i].name == 0 || k->ref[i].name >= k->n_names || k->ref[i].within >= k->n_names ||
            k->ref[i].line < 1 || k->ref[i].line > line || (unsigned)k->ref[i].kind >= MYTH_REF_KIND_N)
            fail_msg("%s: reference %u out of range", what, i);
}

void chunks_check_whole(const char *what, const myth_chunks *k, const unsigned char *text)
{
    for (uint32_t i = 0; i < k->n_symbol; i++) {
        const myth_symbol *s = &k->symbol[i];
        bool is_function =
            s->kind == MYTH_SYMBOL_FUNCTION || s->kind == MYTH_SYMBOL_METHOD || s->kind == MYTH_SYMBOL_TEST;
        uint32_t n_in = 0;
        for (uint32_t c = 0; c < k->n_chunk; c++)
            n_in += k->chunk[c].off < s->off + s->bytes && s->off < k->chunk[c].off + k->chunk[c].bytes;
        if (is_function && n_in != 1 && s->bytes <= 4 * MYTH_CHUNK_BYTES &&
            solid(text + s->off, s->bytes) <= MYTH_CHUNK_BYTES)
            fail_msg("%s: %s of %llu bytes is in %u chunks", what, k->names + s->name, (unsigned long long)s->bytes,
                     n_in);
    }
}

const char *chunks_language(const char *path)
{
    static const struct {
        const char *id, *patterns;
    } rows[] = {
#define LANG(id, patterns, ...) {#id, patterns},
#include "retrieval/scan/languages.def"
#undef LANG
    };
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof(rows) / sizeof(*rows); i++)
        for (const char *p = strstr(rows[i].patterns, dot); p; p = strstr(p + 1, dot))
            if (p > rows[i].patterns && p[-1] == '*' && (p[strlen(dot)] == ' ' || p[strlen(dot)] == '\0'))
                return rows[i].id;
    return "text";
}

unsigned char *chunks_read(const char *path, uint64_t *n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *text = NULL;
    long size = -1;
    if (f && fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0 &&
        (text = malloc((size_t)size + 1)) != NULL)
        *n = fread(text, 1, (size_t)size, f);
    if (f)
        fclose(f);
    return text;
}
