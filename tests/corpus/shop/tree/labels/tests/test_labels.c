/* test_labels.c - the parts of labeld that need no printer. */
#include "../include/labels.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void csv_fields_and_quotes(void)
{
    const char text[] = "FH-1,\"Miller, Ada\",\"12 \"\"Old\"\" Road\",York,YO1 7HH,GB,1200,yes\nnext";
    const char *p = text, *end = text + sizeof(text) - 1;
    csv_record r;
    assert(csv_read(&r, &p, end) == 1);
    assert(r.n_field == 8);
    assert(strcmp(r.field[1], "Miller, Ada") == 0);
    assert(strcmp(r.field[2], "12 \"Old\" Road") == 0);
    label l;
    assert(label_from_csv(&l, &r) == 0);
    assert(l.n_line == 5 && l.weight_grams == 1200 && l.is_fragile);
    csv_free(&r);
    assert(csv_read(&r, &p, end) == 1 && r.n_field == 1);
    csv_free(&r);
    assert(csv_read(&r, &p, end) == 0);
}

static void zpl_escapes_commands(void)
{
    label l = { .order_id = "FH-1", .line = { "A^B~C" }, .n_line = 1, .weight_grams = 1205 };
    char zpl[1024];
    int n = zpl_write(zpl, sizeof(zpl), &l, 203);
    assert(n > 0 && (size_t)n == strlen(zpl));
    assert(strstr(zpl, "A_5EB_7EC"));
    assert(strstr(zpl, "1.205 kg"));
}

static int fail_twice(void *user, const label *l)
{
    (void)l;
    return ++*(int *)user <= 2 ? -1 : 0;
}

static void queue_keeps_order(void)
{
    job_queue q = { 0 };
    label l = { .order_id = "a" };
    queue_push(&q, &l);
    strcpy(l.order_id, "b");
    queue_push(&q, &l);
    job *j = queue_pop(&q);
    assert(strcmp(j->label.order_id, "a") == 0);
    free(j);
    assert(q.n == 1);
    queue_clear(&q);
    (void)fail_twice;
}

static void bitmap_scales(void)
{
    bitmap *b = bitmap_new(9, 2);
    bitmap_set(b, 8, 1);
    bitmap_set(b, 100, 100);
    bitmap *big = bitmap_scale(b, 2);
    assert(big->width == 18 && big->height == 4);
    assert(big->bits[2 * big->stride + 2] == 0xC0);
    bitmap_free(b);
    bitmap_free(big);
}

static void barcode_has_its_length(void)
{
    uint8_t modules[512];
    assert(barcode_modules(modules, sizeof(modules), "FH1") == 11 * 5 + 13);
    assert(barcode_modules(modules, sizeof(modules), "caf\xc3\xa9") == 0);
}

int main(void)
{
    csv_fields_and_quotes();
    zpl_escapes_commands();
    queue_keeps_order();
    bitmap_scales();
    barcode_has_its_length();
    puts("ok");
    return 0;
}
