/* cut_text.c - cuts a file where its text shows a border: at blank lines, unindented lines and closing braces, else
 * at any line, else at any byte.
 *
 * A piece takes as many lines as fit into a chunk. If more lines follow, it ends at the best border in its second
 * half; the first half is not searched, so that pieces do not become small. Leaves of a tree that are larger than a
 * chunk are cut in the same way. */
#include "cut.h"

/* How well the line at `off` would begin a chunk; the line before it begins at `before`. */
static int border(const myth_cut *cut, uint64_t before, uint64_t off, uint64_t to)
{
    const unsigned char *s = cut->text;
    uint64_t p = before;
    while (p < off && myth_is_blank(s[p]))
        p++;
    bool after_blank = p == off;
    bool after_close = !after_blank && s[before] == '}';
    bool at_margin = off < to && !myth_is_blank(s[off]) && s[off] != '}' && s[off] != ')' && s[off] != ']';
    if (off < to && (s[off] == '\n' || s[off] == '\r'))
        return 0; /* blank lines stay with the lines before them */
    return at_margin && (after_blank || after_close) ? 3 : after_blank ? 2 : at_margin ? 1 : 0;
}

/* Cuts in the middle of a line, but not inside a UTF-8 character. */
static uint64_t byte_end(const myth_cut *cut, uint64_t from, uint64_t end)
{
    uint64_t p = end;
    for (int i = 0; i < 3 && p > from + 1 && (cut->text[p] & 0xc0) == 0x80; i++)
        p--;
    return (cut->text[p] & 0xc0) == 0x80 ? end : p;
}

uint64_t myth_cut_text_end(const myth_cut *cut, uint64_t from, uint64_t to)
{
    if (myth_cut_fits(cut, from, to))
        return to;
    uint64_t limit = from, solid = 0;
    for (; limit - from < CUT_RAW_BYTES; limit++) {
        solid += !myth_is_blank(cut->text[limit]);
        if (solid > MYTH_CHUNK_BYTES)
            break;
    }
    uint64_t half = from + (limit - from) / 2, before = from, line = from, best = 0;
    int best_border = -1;
    for (uint64_t p = from + 1; p <= limit; p++) {
        if (cut->text[p - 1] != '\n')
            continue;
        before = line;
        line = p;
        int b = border(cut, before, line, to);
        if (p >= half && b >= best_border) {
            best = p;
            best_border = b;
        }
    }
    return best ? best : line > from ? line : byte_end(cut, from, limit);
}

void myth_cut_text(myth_cut *cut)
{
    for (uint64_t at = 0, end; at < cut->n && !cut->is_out_of_memory; at = end) {
        end = myth_cut_text_end(cut, at, cut->n);
        myth_cut_add_chunk(cut, at, end, MYTH_CHUNK_TEXT);
    }
}
