/* json_out.c - a JSON writer. */
#include "json_out.h"
#include "engine/base/utf8.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

void myth_jout_start(myth_json_out *j, FILE *f) { *j = (myth_json_out){.f = f}; }

/* Writes the comma before the next value, if one is needed. False: the value is too deep and must not be written. */
static bool before_value(myth_json_out *j)
{
    if (j->deep)
        return false;
    if (j->after_key) {
        j->after_key = false;
        return true;
    }
    if (j->depth > 0) {
        assert(!j->is_object[j->depth - 1]);
        if (j->has_item[j->depth - 1])
            fputc(',', j->f);
        j->has_item[j->depth - 1] = true;
    }
    return true;
}

static void after_value(myth_json_out *j)
{
    if (j->depth == 0)
        fputc('\n', j->f);
}

static void open_container(myth_json_out *j, bool is_object)
{
    if (j->deep || j->depth == MYTH_JOUT_DEPTH) {
        if (!j->deep)
            myth_jout_null(j);
        j->deep++;
        return;
    }
    before_value(j);
    j->has_item[j->depth] = false;
    j->is_object[j->depth++] = is_object;
    fputc(is_object ? '{' : '[', j->f);
}

void myth_jout_object(myth_json_out *j) { open_container(j, true); }
void myth_jout_array(myth_json_out *j) { open_container(j, false); }

void myth_jout_end(myth_json_out *j)
{
    if (j->deep) {
        j->deep--;
        return;
    }
    assert(j->depth > 0 && !j->after_key);
    if (j->depth == 0)
        return;
    fputc(j->is_object[--j->depth] ? '}' : ']', j->f);
    after_value(j);
}

static void write_bytes(FILE *f, const char *text, size_t len)
{
    const unsigned char *s = (const unsigned char *)text;
    for (size_t i = 0; i < len;) {
        uint32_t cp;
        int n = myth_utf8_decode(s + i, len - i, &cp);
        if (n == 0)
            fputs("\xef\xbf\xbd", f);
        else if (cp == '"' || cp == '\\')
            fprintf(f, "\\%c", (int)cp);
        else if (cp == '\n')
            fputs("\\n", f);
        else if (cp == '\t')
            fputs("\\t", f);
        else if (cp == '\r')
            fputs("\\r", f);
        else if (myth_utf8_is_unseen(cp) &&
                 cp > 0xffff) /* raw it could reverse or hide text; escaped the value is the same */
            fprintf(f, "\\u%04x\\u%04x", 0xd7c0 + (cp >> 10), 0xdc00 + (cp & 0x3ff));
        else if (myth_utf8_is_unseen(cp))
            fprintf(f, "\\u%04x", cp);
        else
            fwrite(s + i, 1, (size_t)n, f);
        i += n ? (size_t)n : 1;
    }
}

static void write_text(FILE *f, const char *text, size_t len)
{
    fputc('"', f);
    write_bytes(f, text, len);
    fputc('"', f);
}

void myth_jout_key(myth_json_out *j, const char *name)
{
    if (j->deep)
        return;
    assert(j->depth > 0 && j->is_object[j->depth - 1] && !j->after_key);
    if (j->depth == 0)
        return;
    if (j->has_item[j->depth - 1])
        fputc(',', j->f);
    j->has_item[j->depth - 1] = true;
    write_text(j->f, name, strlen(name));
    fputc(':', j->f);
    j->after_key = true;
}

void myth_jout_text(myth_json_out *j, const char *text, size_t len)
{
    if (!before_value(j))
        return;
    write_text(j->f, text, len);
    after_value(j);
}

void myth_jout_text_begin(myth_json_out *j)
{
    if (!before_value(j))
        return;
    fputc('"', j->f);
}

void myth_jout_text_part(myth_json_out *j, const char *text, size_t len)
{
    if (!j->deep)
        write_bytes(j->f, text, len);
}

void myth_jout_text_end(myth_json_out *j)
{
    if (j->deep)
        return;
    fputc('"', j->f);
    after_value(j);
}

void myth_jout_str(myth_json_out *j, const char *text)
{
    if (text)
        myth_jout_text(j, text, strlen(text));
    else
        myth_jout_null(j);
}

void myth_jout_u64(myth_json_out *j, uint64_t v)
{
    if (!before_value(j))
        return;
    fprintf(j->f, "%" PRIu64, v);
    after_value(j);
}

void myth_jout_i64(myth_json_out *j, int64_t v)
{
    if (!before_value(j))
        return;
    fprintf(j->f, "%" PRId64, v);
    after_value(j);
}

void myth_jout_f64(myth_json_out *j, double v)
{
    if (!isfinite(v)) {
        myth_jout_null(j);
        return;
    }
    if (!before_value(j))
        return;
    fprintf(j->f, "%.9g", v);
    after_value(j);
}

void myth_jout_bool(myth_json_out *j, bool v)
{
    if (!before_value(j))
        return;
    fputs(v ? "true" : "false", j->f);
    after_value(j);
}

void myth_jout_null(myth_json_out *j)
{
    if (!before_value(j))
        return;
    fputs("null", j->f);
    after_value(j);
}

void myth_jout_ids(myth_json_out *j, const int32_t *ids, size_t n)
{
    myth_jout_array(j);
    for (size_t i = 0; i < n; i++)
        myth_jout_i64(j, ids[i]);
    myth_jout_end(j);
}

void myth_jout_json(myth_json_out *j, const char *text, size_t len)
{
    if (!before_value(j))
        return;
    fwrite(text, 1, len, j->f);
    after_value(j);
}

/* ---- a block ---- */

myth_json_out *myth_jout_block_next(myth_jout_block *b)
{
    myth_jout_start(&b->json, b->f);
    b->json.deep = !b->f; /* nothing is written then */
    return &b->json;
}

myth_json_out *myth_jout_block_begin(myth_jout_block *b, char *block, size_t cap)
{
    *b = (myth_jout_block){.f = fmemopen(block, cap, "w"), .cap = cap};
    return myth_jout_block_next(b);
}

myth_status myth_jout_block_end(myth_jout_block *b, size_t *n)
{
    *n = 0;
    if (!b->f)
        return MYTH_ENOMEM;
    const bool is_flushed = fflush(b->f) == 0 && !ferror(b->f);
    const long at = ftell(b->f);
    fclose(b->f);
    b->f = NULL;
    if (!is_flushed || at < 0 || (size_t)at >= b->cap)
        return MYTH_ELIMIT;
    *n = (size_t)at;
    return MYTH_OK;
}
