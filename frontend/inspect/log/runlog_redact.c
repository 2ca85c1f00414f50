/* runlog_redact.c - replaces secrets in the texts and documents of the run log. */
#include "runlog_redact.h"
#include "engine/base/array.h"

#include <stdio.h>
#include <string.h>

/* Appends to the buffer that is `user`; for myth_redact_text and myth_redact_bytes. */
static void append(void *user, const char *text, size_t len, bool is_placeholder)
{
    myth_redacted *b = user;
    if (b->has_failed)
        return;
    if (!MYTH_ARRAY_MORE(b->mem, MYTH_MEM_OTHER, "run log", &b->text, b->n, len + 1, &b->cap)) {
        b->has_failed = true;
        return;
    }
    memcpy(b->text + b->n, text, len);
    b->n += len;
    b->text[b->n] = '\0';
    b->has_placeholder = b->has_placeholder || is_placeholder;
}

void myth_redacted_free(myth_redacted *b)
{
    myth_free(b->mem, b->text);
    *b = (myth_redacted){.mem = b->mem};
}

bool myth_redacted_is_path(const myth_redactor *r, const char *text)
{
    return myth_redactor_find_path(r, text) != NULL;
}

void myth_redacted_add(myth_redacted *b, const myth_redactor *r, const char *text, size_t len)
{
    myth_redact_text(r, text, len, append, b);
}

void myth_redacted_add_path(myth_redacted *b, const char *path) { append(b, path, strlen(path), false); }

/* ---- prompts ---- */

/* Which block of code, and which line of its file, a walk over the text of a prompt has reached. */
typedef struct {
    const myth_block *block;
    uint32_t n_block;
    uint32_t idx;    /* the block whose header was the last one seen               */
    uint32_t line;   /* the line of its file that must come next; 0 = not in code  */
    bool has_header; /* false before the first header, when idx is not a block yet */
} place;

static bool is_header(const char *line, size_t len) { return len > 12 && !memcmp(line, "<file path=\"", 12); }

/* In a prompt, code has its line number and "|" before it. Returns the code in this line when it has the number that
 * must come next. Otherwise returns NULL: the line is not code, and the block's code has ended. */
static const char *code_of(place *p, const char *line, size_t len)
{
    char number[16];
    if (!p->line || p->line > p->block[p->idx].last)
        return NULL;
    size_t n = (size_t)snprintf(number, sizeof(number), "%u|", myth_block_shown(&p->block[p->idx], p->line));
    if (len < n || memcmp(line, number, n) != 0) {
        p->line = 0;
        return NULL;
    }
    return line + n;
}

/* Sets the flag that is `user` when a piece replaces a secret; the text is not used. */
static void note_placeholder(void *user, const char *text, size_t len, bool is_placeholder)
{
    (void)text;
    (void)len;
    *(bool *)user = *(bool *)user || is_placeholder;
}

void myth_redacted_add_prompt(myth_redacted *b, const myth_redactor *r, const char *text, size_t len,
                              const myth_block *block, uint32_t n_block)
{
    place p = {.block = block, .n_block = n_block};
    size_t plain =
        0; /* the text from here on is not added yet; it is redacted at once, so that a secret in it is whole */
    for (size_t at = 0, next; at < len; at = next) {
        const char *end = memchr(text + at, '\n', len - at), *code;
        size_t n = end ? (size_t)(end - text) - at : len - at;
        next = at + n + (end != NULL);
        if (is_header(text + at, n) && p.idx + p.has_header < n_block) {
            p.idx += p.has_header;
            p.has_header = true;
            p.line = block[p.idx].first;
            myth_redacted_add(b, r, text + plain, at - plain);
            append(b, text + at, n, false);
            plain = at + n;
        } else if ((code = code_of(&p, text + at, n)) != NULL) {
            const myth_source *src = p.block[p.idx].src;
            const myth_line *l = &src->line[p.line++ - 1];
            bool has_secret = false;
            myth_redact_bytes(r, src, l->off, l->len, note_placeholder, &has_secret);
            if (!has_secret)
                continue;
            myth_redacted_add(b, r, text + plain, (size_t)(code - text) - plain);
            myth_redact_bytes(r, src, l->off, l->len, append, b);
            plain = at + n; /* the line break is added with the text after it */
        }
    }
    if (len > plain)
        myth_redacted_add(b, r, text + plain, len - plain);
}

/* ---- answers ---- */

/* Evidence that has RUN bytes in common with a secret is hidden. Evidence has at least MYTH_EVIDENCE_MIN (8) bytes, so
 * every piece of a secret that is cited is found. */
enum { RUN = 6 };

static bool shares_run(const char *a, size_t n_a, const char *b, size_t n_b)
{
    for (size_t i = 0; i + RUN <= n_a; i++)
        for (size_t k = 0; k + RUN <= n_b; k++)
            if (a[i] == b[k] && !memcmp(a + i, b + k, RUN))
                return true;
    return false;
}

/* Whether the evidence has RUN bytes in common with a secret of the redactor's files. */
static bool is_of_secret(const myth_redactor *r, const char *evidence, size_t len)
{
    for (uint32_t i = 0; r && i < r->n_file; i++)
        for (uint32_t k = 0; k < r->file[i].n_secret; k++)
            if (shares_run(evidence, len, (const char *)r->file[i].src->bytes + r->file[i].secret[k].off,
                           r->file[i].secret[k].len))
                return true;
    return false;
}

/* Returns the length of a JSON string up to its closing quote; n when an answer that was cut off has none. */
static size_t string_len(const char *p, size_t n)
{
    size_t i = 0;
    while (i < n && p[i] != '"')
        i += p[i] == '\\' && i + 1 < n ? 2 : 1;
    return i < n ? i : n;
}

static bool begins(const char *p, size_t n, const char *with)
{
    const size_t m = strlen(with);
    return n >= m && !memcmp(p, with, m);
}

void myth_redacted_add_answer(myth_redacted *b, const myth_redactor *r, const char *text, size_t len)
{
    static const char evidence[] = "\"evidence\":\"", quote[] = "\"quote\":\"", file[] = "\"file\":\"";
    size_t from = 0;
    for (size_t at = 0; at < len;) {
        const char *const key = begins(text + at, len - at, evidence) ? evidence
                              : begins(text + at, len - at, quote)    ? quote
                              : begins(text + at, len - at, file)     ? file
                                                                      : NULL;
        const bool is_file = key == file;
        if (!key) {
            at++;
            continue;
        }
        at += strlen(key);
        size_t n = string_len(text + at, len - at);
        if (is_file || is_of_secret(r, text + at, n)) {
            myth_redacted_add(b, r, text + from, at - from);
            if (is_file)
                append(b, text + at, n, false);
            else
                append(b, "[REDACTED]", 10, true);
            from = at + n;
        }
        at += n;
    }
    if (len > from)
        myth_redacted_add(b, r, text + from, len - from);
}

/* ---- documents ---- */

json_t *myth_json_lossy(myth_mem *mem, const char *text, size_t len)
{
    json_t *j = json_stringn(text, len);
    if (j)
        return j;
    size_t n = myth_spell_lossy(NULL, 0, text, len);
    char *copy = myth_alloc(mem, MYTH_MEM_OTHER, "run log", n + 1);
    if (!copy)
        return NULL;
    myth_spell_lossy(copy, n, text, len);
    j = json_stringn(copy, n);
    myth_free(mem, copy);
    return j;
}

static json_t *redacted_string(const json_t *j, const myth_redactor *r, myth_mem *mem, bool *changed)
{
    myth_redacted b = {.mem = mem};
    myth_redacted_add(&b, r, json_string_value(j), json_string_length(j));
    json_t *out = b.has_failed ? NULL : myth_json_lossy(mem, b.n ? b.text : "", b.n);
    *changed = *changed || b.has_placeholder;
    myth_redacted_free(&b);
    return out;
}

/* Whether the string of this key is a path, which is kept as it is because a replay needs it. */
static bool is_path_key(const char *key)
{
    static const char *const name[] = {"path", "file", "root", "cwd"};
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        if (!strcmp(key, name[i]))
            return true;
    return false;
}

json_t *myth_redacted_json(const json_t *j, const myth_redactor *r, myth_mem *mem, bool *changed)
{
    json_t *out, *v;
    const char *key;
    size_t i;
    bool ok = true;
    switch (json_typeof(j)) {
    case JSON_STRING:
        return myth_redacted_is_path(r, json_string_value(j)) ? json_copy((json_t *)j)
                                                              : redacted_string(j, r, mem, changed);
    case JSON_OBJECT:
        if ((out = json_object()) == NULL)
            return NULL;
        json_object_foreach((json_t *)j, key, v)
        {
            json_t *copy =
                json_is_string(v) && is_path_key(key) ? json_copy(v) : myth_redacted_json(v, r, mem, changed);
            ok = json_object_set_new(out, key, copy) == 0; /* it takes the copy, also when it fails */
            if (!ok)
                break;
        }
        break;
    case JSON_ARRAY:
        if ((out = json_array()) == NULL)
            return NULL;
        json_array_foreach(j, i, v) ok = ok && json_array_append_new(out, myth_redacted_json(v, r, mem, changed)) == 0;
        break;
    default: return json_copy((json_t *)j);
    }
    if (!ok)
        json_decref(out);
    return ok ? out : NULL;
}
