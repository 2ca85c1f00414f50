/* csv.c - one record of comma-separated values at a time, and a label from it.
 *
 * Columns  order_id, name, street, city, postcode, country, weight_g, fragile   */
#include "labels.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMN_ORDER, COLUMN_NAME, COLUMN_STREET, COLUMN_CITY, COLUMN_POSTCODE, COLUMN_COUNTRY, COLUMN_WEIGHT, COLUMN_FRAGILE, COLUMN_N };

static size_t count_fields(const char *p, const char *end)
{
    size_t n = 1;
    bool quoted = false;
    for (; p < end && (quoted || *p != '\n'); p++) {
        if (*p == '"')
            quoted = !quoted;
        else if (*p == ',' && !quoted)
            n++;
    }
    return n;
}

/* Returns 1 for a record, 0 at the end, -1 without memory. */
int csv_read(csv_record *out, const char **pp, const char *end)
{
    const char *p = *pp;
    memset(out, 0, sizeof(*out));
    if (p >= end)
        return 0;
    size_t n = count_fields(p, end), used = 0;
    out->text = malloc((size_t)(end - p) + n);
    out->field = calloc(n, sizeof(*out->field));
    if (!out->text || !out->field) {
        csv_free(out);
        return -1;
    }
    bool quoted = false;
    out->field[out->n_field++] = out->text;
    for (; p < end && (quoted || *p != '\n'); p++) {
        if (*p == '"') {
            if (quoted && p + 1 < end && p[1] == '"')
                out->text[used++] = *p++;
            else
                quoted = !quoted;
        } else if (*p == ',' && !quoted) {
            out->text[used++] = '\0';
            out->field[out->n_field++] = out->text + used;
        } else if (*p != '\r') {
            out->text[used++] = *p;
        }
    }
    out->text[used] = '\0';
    *pp = p < end ? p + 1 : p;
    return 1;
}

void csv_free(csv_record *r)
{
    free(r->text);
    free(r->field);
    memset(r, 0, sizeof(*r));
}

static void add_line(label *l, const char *text)
{
    if (*text == '\0' || l->n_line >= LABEL_LINES)
        return;
    memcpy(l->line[l->n_line], text, strlen(text) + 1);
    l->n_line++;
}

int label_from_csv(label *out, const csv_record *r)
{
    memset(out, 0, sizeof(*out));
    if (r->n_field < COLUMN_N)
        return -1;
    strncpy(out->order_id, r->field[COLUMN_ORDER], sizeof(out->order_id) - 1);
    for (int c = COLUMN_NAME; c <= COLUMN_COUNTRY; c++)
        add_line(out, r->field[c]);
    out->weight_grams = (unsigned)strtoul(r->field[COLUMN_WEIGHT], NULL, 10);
    out->is_fragile = tolower((unsigned char)r->field[COLUMN_FRAGILE][0]) == 'y';
    return out->n_line >= 3 ? 0 : -1;
}
