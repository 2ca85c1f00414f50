/* candidates.c - see candidates.h. The caller's side: asks the parsers' process and checks what it says. */
#include "find.h"

#include <stdio.h>
#include <string.h>

void myth_candidates_free(myth_candidates *k, myth_mem *mem)
{
    myth_free(mem, k->candidate);
    myth_free(mem, k->names);
    *k = (myth_candidates){0};
}

/* Whether the answer can be used: its worker has read hostile text. */
static bool is_sane(const myth_candidates *k, uint64_t n, uint32_t n_line)
{
    if (k->n_names == 0 || k->names[0] != '\0' || k->names[k->n_names - 1] != '\0')
        return false;
    if (k->cut_line > n_line)
        return false;
    for (uint32_t i = 0; i < k->n; i++) {
        const myth_candidate_place *c = &k->candidate[i];
        const uint32_t name[] = {c->rule, c->row, c->function, c->path, c->callee, c->say, c->facts};
        for (size_t j = 0; j < sizeof(name) / sizeof(*name); j++)
            if (name[j] >= k->n_names)
                return false;
        if (c->off > n || c->bytes > n - c->off || c->line0 < 1 || c->line0 > c->line1 || c->line1 > n_line ||
            c->function_line0 < 1 || c->function_line0 > c->function_line1 || c->function_line1 > n_line ||
            c->about_line > n_line || c->is_lost > 1 || (c->from != UINT32_MAX && c->from > n) ||
            (i > 0 && c->off < c[-1].off))
            return false;
    }
    return true;
}

static uint32_t count_lines(const unsigned char *text, uint64_t n)
{
    uint32_t lines = 1;
    for (const unsigned char *p = text, *end = text + n; p && p < end && (p = memchr(p, '\n', (size_t)(end - p))); p++)
        lines++;
    return lines;
}

myth_status myth_candidates_take(myth_candidates *out, bool *is_good, myth_mem *mem, const unsigned char *bytes,
                                 uint64_t n_bytes, const unsigned char *text, uint64_t n, myth_error *err)
{
    myth_candidates_head head;
    *out = (myth_candidates){0};
    *is_good = n_bytes >= sizeof(head);
    if (*is_good) {
        memcpy(&head, bytes, sizeof(head));
        *is_good = n_bytes == sizeof(head) + (uint64_t)head.n * sizeof(myth_candidate_place) + head.n_names;
    }
    if (!*is_good)
        return MYTH_OK;
    out->n = head.n;
    out->n_names = head.n_names;
    out->n_function = head.n_function;
    out->cut_line = head.cut_line;
    out->candidate = myth_alloc_n(mem, MYTH_MEM_OTHER, "candidates", head.n, sizeof(*out->candidate));
    out->names = myth_alloc(mem, MYTH_MEM_OTHER, "candidates", head.n_names);
    if (!out->candidate || !out->names) {
        myth_candidates_free(out, mem);
        return myth_fail(err, MYTH_ENOMEM, "the candidates of a file");
    }
    memcpy(out->candidate, bytes + sizeof(head), head.n * sizeof(*out->candidate));
    memcpy(out->names, bytes + sizeof(head) + head.n * sizeof(*out->candidate), head.n_names);
    *is_good = is_sane(out, n, count_lines(text, n));
    if (!*is_good)
        myth_candidates_free(out, mem);
    else if (out->cut_line)
        snprintf(out->note, sizeof(out->note), "too long for one function: from line %u on not all was looked at",
                 out->cut_line);
    return MYTH_OK;
}

myth_status myth_candidates_change(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                   const char *language, const char *path, const unsigned char *text, uint64_t n,
                                   const unsigned char *before, uint64_t n_before, myth_error *err)
{
    bool is_good = true;
    *out = (myth_candidates){0};
    *kept = (myth_candidates_bytes){0};
    if (n == 0 || (before && n_before == 0))
        return MYTH_OK; /* read to its end: it has no places */
    myth_status st = before ? myth_chunk_read_change(&kept->byte, &kept->n, out->note, c, language, path, text, n,
                                                     before, n_before, err)
                            : myth_chunk_read_tree(&kept->byte, &kept->n, out->note, c, language, path, text, n, err);
    if (st != MYTH_OK || !kept->byte)
        return st;
    st = myth_candidates_take(out, &is_good, myth_chunker_mem(c), kept->byte, kept->n, text, n, err);
    if (!is_good || st != MYTH_OK) {
        myth_free(myth_chunker_mem(c), kept->byte);
        *kept = (myth_candidates_bytes){0};
    }
    if (!is_good)
        snprintf(out->note, sizeof(out->note), "candidates: the answer of the parsers' process is invalid");
    return st;
}

myth_status myth_candidates_ask(myth_candidates *out, myth_candidates_bytes *kept, myth_chunker *c,
                                const char *language, const char *path, const unsigned char *text, uint64_t n,
                                myth_error *err)
{
    return myth_candidates_change(out, kept, c, language, path, text, n, NULL, 0, err);
}

myth_status myth_candidates_find(myth_candidates *out, myth_chunker *c, const char *language, const char *path,
                                 const unsigned char *text, uint64_t n, myth_error *err)
{
    myth_candidates_bytes bytes;
    const myth_status st = myth_candidates_ask(out, &bytes, c, language, path, text, n, err);
    myth_free(myth_chunker_mem(c), bytes.byte);
    return st;
}
