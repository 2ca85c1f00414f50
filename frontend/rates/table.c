/* table.c - lines and fields of a CSV file, with the columns found by the names in its first line. */
#include "table.h"

#include "engine/base/map.h"
#include "rates.h"

#include <stddef.h>
#include <string.h>

typedef struct {
    char *text[MYTH_RATES_FIELDS];
    uint32_t n;
} fields;

static const struct {
    const char *name;
    size_t off;
} columns[] = {
#define X(column) {#column, offsetof(myth_rate_row, column)},
    MYTH_RATE_COLUMNS(X)
#undef X
};
enum { N_COLUMN = sizeof(columns) / sizeof(columns[0]) };

/* Cuts a line in place; false when it is no row. */
static bool cut(fields *f, char *line)
{
    f->n = 0;
    for (const char *p = line; *p; p++)
        if ((unsigned char)*p < 0x20 || *p == 0x7f)
            return false;
    for (char *at = line, next;; at++) {
        char *to = at + (*at == '"');
        if (f->n == MYTH_RATES_FIELDS)
            return false;
        f->text[f->n++] = to;
        if (*at == '"') {
            at++;
            while (*at && !(*at == '"' && at[1] != '"')) {
                at += *at == '"';
                *to++ = *at++;
            }
            if (!*at++)
                return false;
            next = *at;
            *to = '\0';
        } else {
            at += strcspn(at, ",");
            next = *at;
        }
        if (next && next != ',')
            return false;
        *at = '\0';
        if (!next)
            return true;
    }
}

static void fill(myth_rate_row *row, const fields *f, const int column[MYTH_RATES_FIELDS])
{
    for (int c = 0; c < N_COLUMN; c++)
        *(const char **)((char *)row + columns[c].off) = "";
    for (uint32_t i = 0; i < f->n; i++)
        if (column[i] >= 0)
            *(const char **)((char *)row + columns[column[i]].off) = f->text[i];
}

static bool read_header(int column[MYTH_RATES_FIELDS], fields *f, char *line)
{
    bool is_known = false;
    if (!cut(f, line))
        return false;
    for (uint32_t i = 0; i < f->n; i++) {
        column[i] = -1;
        for (int c = 0; c < N_COLUMN && column[i] < 0; c++)
            column[i] = strcmp(f->text[i], columns[c].name) == 0 ? c : -1;
        is_known |= column[i] >= 0;
    }
    return is_known;
}

bool myth_rates_rows(const unsigned char *bytes, size_t len, bool (*on_row)(void *user, const myth_rate_row *row),
                     void *user)
{
    int column[MYTH_RATES_FIELDS];
    fields f;
    uint32_t n_header = 0;
    char line[MYTH_RATES_LINE];
    bool goes_on = true;
    for (size_t at = 0, n; at < len && goes_on; at += n + 1) {
        const unsigned char *end = memchr(bytes + at, '\n', len - at);
        n = end ? (size_t)(end - (bytes + at)) : len - at;
        size_t n_text = n && bytes[at + n - 1] == '\r' ? n - 1 : n;
        const bool is_text = n_text < sizeof(line) && !memchr(bytes + at, '\0', n_text);
        if (is_text) {
            memcpy(line, bytes + at, n_text);
            line[n_text] = '\0';
        }
        if (at == 0) {
            if (!is_text || !read_header(column, &f, line))
                return false;
            n_header = f.n;
            continue;
        }
        myth_rate_row row;
        if (!is_text || !n_text || !cut(&f, line) || f.n > n_header)
            continue;
        fill(&row, &f, column);
        goes_on = on_row(user, &row);
    }
    return true;
}

myth_status myth_rates_table(myth_mem *mem, const char *path, bool (*on_row)(void *user, const myth_rate_row *row),
                             void *user, myth_error *err)
{
    unsigned char *bytes;
    size_t len;
    myth_status st = myth_file_read(&bytes, &len, mem, path, MYTH_RATES_BYTES, err);
    if (st != MYTH_OK)
        return st;
    if (len && !myth_rates_rows(bytes, len, on_row, user))
        st = myth_fail(err, MYTH_EFORMAT, "%.200s: no table of rates: the first line names no known column", path);
    myth_free(mem, bytes);
    return st;
}
