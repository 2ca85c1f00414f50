/* source.c - the lines of a file and their JSON spelling. One pass over the bytes finds every size before anything is
 * allocated, so that the plan is exact. */
#include "source.h"

#include "engine/base/utf8.h"

#include <string.h>

static const char hex[] = "0123456789abcdef";
static const char replacement[] = "\xef\xbf\xbd";

/* Writes the character at src (n >= 1 bytes) to dst[4], U+FFFD for a byte that is not part of valid UTF-8. Returns the
 * bytes written; *used is how many bytes of src the character has. */
static int show_one(char dst[4], const unsigned char *src, size_t n, int *used)
{
    uint32_t cp;
    *used = myth_utf8_decode(src, n, &cp);
    if (*used == 0) {
        *used = 1;
        memcpy(dst, replacement, 3);
        return 3;
    }
    memcpy(dst, src, (size_t)*used);
    return *used;
}

/* The same in JSON spelling, to dst[6]; *shown is what show_one returns for this character. */
static int spell_one(char dst[6], const unsigned char *src, size_t n, int *used, int *shown)
{
    int len = *shown = show_one(dst, src, n, used);
    unsigned char c = (unsigned char)dst[0];
    if (c >= 0x20 && c != '"' && c != '\\')
        return len;
    dst[0] = '\\';
    switch (c) {
    case '"':
    case '\\': dst[1] = (char)c; return 2;
    case '\n': dst[1] = 'n'; return 2;
    case '\t': dst[1] = 't'; return 2;
    case '\r': dst[1] = 'r'; return 2;
    default:
        memcpy(dst + 1, "u00", 3);
        dst[4] = hex[c >> 4];
        dst[5] = hex[c & 15];
        return 6;
    }
}

/* Writes the n bytes of src at dst + at, without those that lie beyond cap. */
static void put_capped(char *dst, size_t cap, size_t at, const char *src, int n)
{
    for (int i = 0; i < n && at + (size_t)i < cap; i++)
        dst[at + (size_t)i] = src[i];
}

size_t myth_spell(char *dst, size_t cap, const void *src, size_t len)
{
    size_t at = 0;
    int used, shown;
    char one[6];
    for (size_t i = 0; i < len; i += (size_t)used) {
        int n = spell_one(one, (const unsigned char *)src + i, len - i, &used, &shown);
        put_capped(dst, cap, at, one, n);
        at += (size_t)n;
    }
    return at;
}

size_t myth_spell_lossy(char *dst, size_t cap, const void *src, size_t len)
{
    size_t at = 0;
    int used;
    char one[4];
    for (size_t i = 0; i < len; i += (size_t)used) {
        int n = show_one(one, (const unsigned char *)src + i, len - i, &used);
        put_capped(dst, cap, at, one, n);
        at += (size_t)n;
    }
    return at;
}

static bool is_blank_byte(unsigned char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }

static void trim(const unsigned char *bytes, uint32_t *off, uint32_t *len)
{
    while (*len && is_blank_byte(bytes[*off])) {
        ++*off;
        --*len;
    }
    while (*len && is_blank_byte(bytes[*off + *len - 1]))
        --*len;
}

void myth_line_trim(const myth_source *s, uint32_t idx, uint32_t *off, uint32_t *len)
{
    *off = s->line[idx].off;
    *len = s->line[idx].len;
    trim(s->bytes, off, len);
}

/* Returns the length of the line that starts at off, without its terminator; *next is where the next line starts. */
static uint32_t line_len(const unsigned char *bytes, uint32_t size, uint32_t off, uint32_t *next)
{
    const unsigned char *end = memchr(bytes + off, '\n', size - off);
    uint32_t len = end ? (uint32_t)(end - bytes) - off : size - off;
    *next = off + len + (end != NULL);
    if (end && len && bytes[off + len - 1] == '\r')
        len--;
    return len;
}

static void measure(uint32_t *n_line, uint64_t *text_len, const unsigned char *bytes, uint32_t size)
{
    *n_line = 0;
    *text_len = 0;
    for (uint32_t off = 0, next; off < size; off = next, ++*n_line) {
        uint32_t at = off, len = line_len(bytes, size, off, &next);
        trim(bytes, &at, &len);
        *text_len += myth_spell(NULL, 0, bytes + at, len);
    }
}

/* An empty buffer is allocated with one byte, so that NULL always means that memory ran out. */
static uint64_t at_least_one(uint64_t n) { return n ? n : 1; }

uint64_t myth_source_plan(const char *path, const unsigned char *bytes, size_t len)
{
    if (len > MYTH_SOURCE_MAX)
        return 0;
    uint32_t n_line;
    uint64_t text_len;
    measure(&n_line, &text_len, bytes, (uint32_t)len);
    return at_least_one(myth_spell(NULL, 0, path, strlen(path))) + at_least_one(n_line * sizeof(myth_line)) +
           at_least_one(text_len);
}

/* Writes the spelling of one trimmed line at s->text + text and finds where evidence may start in it: at a character
 * from which on at least MYTH_EVIDENCE_MIN bytes are left, without the bytes that JSON's escapes add. */
static void fill_line(myth_source *s, myth_line *l, uint32_t text)
{
    uint32_t off = l->off, len = l->len;
    trim(s->bytes, &off, &len);
    l->text = text;
    l->text_len = (uint32_t)myth_spell(s->text + text, s->text_len - text, s->bytes + off, len);
    uint64_t total = myth_spell_lossy(NULL, 0, s->bytes + off, len), shown_before = 0;
    uint32_t at = 0;
    int used, shown;
    char one[6];
    for (uint32_t i = 0; i < len && total - shown_before >= MYTH_EVIDENCE_MIN; i += (uint32_t)used) {
        int n = spell_one(one, s->bytes + off + i, len - i, &used, &shown);
        l->n_start = at + 1;
        at += (uint32_t)n;
        shown_before += (uint64_t)shown;
    }
}

myth_status myth_source_open(myth_source *out, myth_mem *mem, const char *path, const unsigned char *bytes, size_t len,
                             myth_error *err)
{
    memset(out, 0, sizeof(*out));
    if (len > MYTH_SOURCE_MAX)
        return myth_fail(err, MYTH_ELIMIT, "%s: %zu bytes, at most %d are read", path, len, (int)MYTH_SOURCE_MAX);
    uint64_t text_len;
    out->mem = mem;
    out->path = path;
    out->bytes = bytes;
    out->len = (uint32_t)len;
    measure(&out->n_line, &text_len, bytes, out->len);
    out->text_len = (uint32_t)text_len; /* fits: one byte of a file of at most 4 MiB becomes at most 6 */
    out->path_len = (uint32_t)myth_spell(NULL, 0, path, strlen(path));
    out->path_text = myth_alloc(mem, MYTH_MEM_STAGING, "source path", at_least_one(out->path_len));
    out->line = myth_alloc(mem, MYTH_MEM_STAGING, "source lines", at_least_one(out->n_line * sizeof(myth_line)));
    out->text = myth_alloc(mem, MYTH_MEM_STAGING, "source text", at_least_one(text_len));
    if (!out->path_text || !out->line || !out->text) {
        myth_source_close(out);
        return myth_fail(err, MYTH_ENOMEM, "%s: %llu bytes for its lines", path,
                         (unsigned long long)myth_source_plan(path, bytes, len));
    }
    myth_spell(out->path_text, out->path_len, path, strlen(path));
    uint32_t text = 0, idx = 0;
    for (uint32_t off = 0, next; off < out->len; off = next, idx++) {
        myth_line *l = &out->line[idx];
        l->off = off;
        l->len = line_len(bytes, out->len, off, &next);
        fill_line(out, l, text);
        text += l->text_len;
    }
    /* backwards, because a blank line takes its next line that is not blank from the line after it */
    for (uint32_t i = out->n_line, next = out->n_line; i-- > 0;)
        out->line[i].next = next = out->line[i].text_len ? i : next;
    return MYTH_OK;
}

void myth_source_close(myth_source *s)
{
    if (s->mem) {
        myth_free(s->mem, s->text);
        myth_free(s->mem, s->line);
        myth_free(s->mem, s->path_text);
    }
    memset(s, 0, sizeof(*s));
}
