/* rows.c - prints the rows of bench_engine as CSV. */
#include "bench/engine/bench.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void put_text(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    putchar('"');
}

static void put_number(double v, const char *fmt)
{
    putchar(',');
    if (v > 0.0)
        printf(fmt, v);
}

void bench_put_row(const bench *b, const subject *s, const row *r, const char *fmt, ...)
{
    char note[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(note, sizeof(note), fmt, args);
    va_end(args);
    printf("%s,", b->name);
    put_text(b->description);
    printf(",%s,%s,%s,%u,%u", s ? s->model_name : "", s ? s->type_name : "", r->test, r->batch, r->depth);
    put_number(r->tok_s, "%.2f");
    put_number(r->bytes, "%.0f");
    put_number(r->flops, "%.0f");
    put_number(r->limit_tok_s, "%.2f");
    put_number(r->ratio, "%.4f");
    putchar(',');
    if (note[0])
        put_text(note);
    putchar('\n');
    fflush(stdout);
}

const char *bench_test_name(test_kind kind)
{
    static const char *const name[] = {"decode", "decode_peer", "prefill", "restore", "topk"};
    return name[kind];
}

void bench_put_cell_note(const bench *b, const subject *s, const cell *c, const char *note)
{
    bench_put_row(b, s, &(row){.test = bench_test_name(c->kind), .batch = c->batch, .depth = c->depth}, "%s", note);
}

void bench_put_cold(const subject *s, const char *spec, double seconds, bool is_fresh)
{
    const bench *b = s->b;
    bool is_random = strncmp(spec, "random:", 7) == 0;
    row r = {.test = "cold_start", .batch = 1, .depth = PROMPT_COLD, .tok_s = 1.0 / seconds, .bytes = s->weight_bytes};
    if (!is_random && b->upload_bytes > 0.0) {
        r.limit_tok_s = b->upload_bytes / s->weight_bytes;
        r.ratio = r.tok_s / r.limit_tok_s;
    }
    bench_put_row(b, s, &r, "%.3f s to the first token%s%s", seconds,
                  is_fresh ? " from the start of the process" : ", device already open",
                  is_random ? "; weights made from a seed" : "; file as it was cached");
}
