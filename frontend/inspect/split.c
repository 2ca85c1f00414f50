/* split.c - structure without a parser: brackets counted outside of quotes, indentation, blank lines. */
#include "split.h"

/* Brackets opened minus closed in a line; what stands in quotes does not count. A quote that the line does not close is no quote
 * (an apostrophe in a comment). */
static int line_balance(const unsigned char *p, uint32_t len)
{
    int balance = 0;
    for (uint32_t i = 0; i < len; i++) {
        unsigned char c = p[i];
        if (c == '"' || c == '\'') {
            uint32_t end = i + 1;
            while (end < len && p[end] != c)
                end += p[end] == '\\' ? 2 : 1;
            if (end < len)
                i = end;
        } else if (c == '{' || c == '(' || c == '[') {
            balance++;
        } else if (c == '}' || c == ')' || c == ']') {
            balance--;
        }
    }
    return balance;
}

static bool is_blank(const myth_source *src, uint32_t n) { return src->line[n - 1].text_len == 0; }

/* How good it is to cut between lines n and n + 1, with depth brackets open after n. */
static int border_value(const myth_source *src, uint32_t n, int depth)
{
    const myth_line *next = &src->line[n];
    unsigned char c = next->len ? src->bytes[next->off] : ' ';
    int value = depth <= 0 ? 4 : 0;
    value += is_blank(src, n) ? 2 : 0;
    value += c != ' ' && c != '\t' && c != '}' && c != ')' ? 1 : 0;
    return value;
}

static uint32_t best_border(const myth_source *src, uint32_t first, uint32_t last)
{
    uint32_t from = first + (last - first) / 2, best = last;
    int depth = 0, most = -1;
    for (uint32_t n = first; n <= last; n++) {
        depth += line_balance(src->bytes + src->line[n - 1].off, src->line[n - 1].len);
        if (depth < 0)
            depth = 0;                                  /* the part began inside a block that ends here */
        int value = n < from ? -1 : border_value(src, n, depth);
        if (value >= most) {
            most = value;
            best = n;
        }
    }
    return best;
}

myth_status myth_split_next(uint32_t *last, const myth_source *src, uint32_t first, uint32_t guess, myth_split_fits *fits, void *user,
                            myth_error *err)
{
    myth_status st = MYTH_OK;
    uint32_t yes = first - 1, no = src->n_line + 1, step = guess;
    while (yes + 1 < no) {                              /* gallop up from the guess, then halve */
        uint32_t n = no <= src->n_line ? yes + (no - yes) / 2 : step < src->n_line - yes ? yes + step : src->n_line;
        bool does = false;
        if ((st = fits(user, first, n, &does, err)) != MYTH_OK)
            return st;
        if (does)
            yes = n;
        else
            no = n;
        step = step < src->n_line ? 2 * step : step;
    }
    if (yes < first)
        return myth_fail(err, MYTH_ELIMIT, "%s: line %u alone does not fit a prompt", src->path, first);
    *last = yes == src->n_line ? yes : best_border(src, first, yes);
    return MYTH_OK;
}
