/* reply.c - collects the items of an answer and shows as many as the budget holds. */
#include "reply.h"

#include "engine/base/array.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Bytes of text past which no answer can fit: a token is rarely longer than this, and an answer that could have held a
 * few more items is still right. */
enum { TOKEN_BYTES = 64 };

static myth_status no_memory(myth_error *err) { return myth_fail(err, MYTH_ENOMEM, "out of memory for an answer"); }

myth_status myth_reply_open(myth_reply *a, myth_mem *mem, const char *items, const myth_budget *budget, myth_error *err)
{
    *a = (myth_reply){.mem = mem, .items = items, .budget = *budget};
    a->head_file = open_memstream(&a->head, &a->n_head);
    a->item_file = open_memstream(&a->item, &a->n_item_text);
    return a->head_file && a->item_file ? MYTH_OK : no_memory(err);
}

void myth_reply_close(myth_reply *a)
{
    if (a->head_file)
        fclose(a->head_file);
    if (a->item_file)
        fclose(a->item_file);
    free(a->head);
    free(a->item);
    if (a->mem)
        myth_free(a->mem, a->end);
    memset(a, 0, sizeof(*a));
}

myth_json_out *myth_reply_head(myth_reply *a)
{
    myth_jout_start(&a->j, a->head_file);
    myth_jout_object(&a->j);
    return &a->j;
}

void myth_reply_head_end(myth_reply *a) { myth_jout_end(&a->j); }

bool myth_reply_begin(myth_reply *a)
{
    const uint64_t tokens = a->budget.max_tokens, bytes = a->budget.max_bytes;
    const uint64_t most = tokens && tokens * TOKEN_BYTES < bytes ? tokens * TOKEN_BYTES : bytes;
    a->is_found = a->is_found || !a->more;
    if (a->n_skipped < a->skip) {
        a->n_skipped++;
        return false;
    }
    if (a->n_item_text > most || a->has_failed) {
        a->left_out++;
        return false;
    }
    myth_jout_start(&a->j, a->item_file);
    myth_jout_object(&a->j);
    return true;
}

void myth_reply_end(myth_reply *a)
{
    myth_jout_end(&a->j);
    if (fflush(a->item_file) != 0 || ferror(a->item_file) ||
        !MYTH_ARRAY_ROOM(a->mem, MYTH_MEM_OTHER, "answer", &a->end, a->n_end, &a->cap_end))
        a->has_failed = true;
    else
        a->end[a->n_end++] = a->n_item_text;
}

void myth_reply_note(myth_reply *a, bool is_partial, const char *fmt, ...)
{
    myth_error line; /* myth_fail makes the text safe to print */
    char text[sizeof(line.msg)];
    va_list ap;
    a->is_partial = a->is_partial || is_partial;
    if (a->n_note == MYTH_REPLY_NOTES)
        return;
    va_start(ap, fmt);
    vsnprintf(text, sizeof(text), fmt, ap);
    va_end(ap);
    myth_fail(&line, MYTH_EARG, "%.*s", MYTH_REPLY_NOTE_BYTES - 1, text);
    snprintf(a->note[a->n_note++], MYTH_REPLY_NOTE_BYTES, "%.*s", MYTH_REPLY_NOTE_BYTES - 1, line.msg);
}

void myth_reply_more(myth_reply *a, const char *items)
{
    a->more = items;
    a->n_first = a->n_end;
}

static void put_list(FILE *f, const myth_reply *a, const char *key, uint32_t first, uint32_t last)
{
    fprintf(f, "\"%s\":[", key);
    for (uint32_t i = first; i < last; i++) {
        const size_t from = i ? a->end[i - 1] : 0;
        fwrite(a->item + from, 1, a->end[i] - from - 1, f);
        if (i + 1 < last)
            fputc(',', f);
    }
    fputs("],", f);
}

/* The document with the first n items. */
static myth_status render(const myth_reply *a, uint32_t n, char **text, size_t *n_text, myth_error *err)
{
    const uint64_t left_out = a->left_out + (a->n_end - n);
    myth_json_out j;
    *text = NULL;
    FILE *f = open_memstream(text, n_text);
    if (!f)
        return no_memory(err);
    fputc('{', f);
    if (a->n_head > 3) { /* more than "{}" and a newline */
        fwrite(a->head + 1, 1, a->n_head - 3, f);
        fputc(',', f);
    }
    const uint32_t n_first = a->more && a->n_first < n ? a->n_first : n;
    if (a->items)
        put_list(f, a, a->items, 0, n_first);
    if (a->more)
        put_list(f, a, a->more, n_first, n);
    if (a->skip)
        fprintf(f, "\"skipped\":%llu,", (unsigned long long)a->n_skipped);
    fprintf(f, "\"left_out\":%llu,\"complete\":%s,\"notes\":", (unsigned long long)left_out,
            left_out || a->is_partial ? "false" : "true");
    myth_jout_start(&j, f);
    myth_jout_array(&j);
    for (uint32_t i = 0; i < a->n_note; i++)
        myth_jout_str(&j, a->note[i]);
    /* closed by hand: the writer ends the outermost container with a newline */
    fputs("]}", f);
    const bool is_well = fflush(f) == 0 && !ferror(f);
    if (fclose(f) == 0 && is_well)
        return MYTH_OK;
    free(*text);
    *text = NULL;
    return no_memory(err);
}

size_t myth_budget_text(const myth_budget *b)
{
    enum { TOKEN = 3, NOTES = 800, LEAST = 64 };
    const uint64_t bytes = b->max_tokens && b->max_tokens * TOKEN < b->max_bytes ? b->max_tokens * TOKEN : b->max_bytes;
    return bytes > NOTES + 3 * LEAST ? (size_t)(bytes - NOTES) / 3 : LEAST;
}

myth_status myth_budget_holds(bool *out, const myth_budget *b, const char *text, size_t n, myth_error *err)
{
    uint64_t n_token = 0;
    myth_status st = MYTH_OK;
    *out = n <= b->max_bytes;
    if (*out && b->max_tokens) {
        st = b->count(b->arg, text, n, &n_token, err);
        *out = n_token <= b->max_tokens;
    }
    return st;
}

static myth_status try_n(const myth_reply *a, uint32_t n, bool *fits, char **text, size_t *n_text, myth_error *err)
{
    myth_status st = render(a, n, text, n_text, err);
    if (st == MYTH_OK)
        st = myth_budget_holds(fits, &a->budget, *text, *n_text, err);
    if (st != MYTH_OK || !*fits) {
        free(*text);
        *text = NULL;
    }
    return st;
}

myth_status myth_reply_finish(myth_reply *a, char **text, size_t *n, bool *is_found, myth_error *err)
{
    bool fits = false;
    *text = NULL;
    if (a->has_failed || fflush(a->head_file) != 0 || ferror(a->head_file))
        return no_memory(err);
    *is_found = a->is_found;
    a->n_shown = a->n_end;
    myth_status st = try_n(a, a->n_end, &fits, text, n, err);
    if (st != MYTH_OK || fits)
        return st;
    if (a->items && a->n_note < MYTH_REPLY_NOTES)
        myth_reply_note(a, true,
                        "the budget holds no more; raise max_bytes or max_tokens, ask for less, or go on with skip");
    uint32_t lo = 0, hi = a->n_end; /* hi items do not fit; fewer than lo do */
    while (lo < hi) {
        const uint32_t mid = lo + (hi - lo) / 2;
        st = try_n(a, mid, &fits, text, n, err);
        free(*text);
        *text = NULL;
        if (st != MYTH_OK)
            return st;
        if (fits)
            lo = mid + 1;
        else
            hi = mid;
    }
    if (lo == 0)
        return myth_fail(err, MYTH_ELIMIT,
                         "the budget is too small for an answer without items; raise max_bytes or max_tokens");
    a->n_shown = lo - 1;
    return try_n(a, lo - 1, &fits, text, n, err);
}
