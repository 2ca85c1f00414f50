/* runlog_shown.c - the record of what the model was shown: files, their pieces with the reason for each, and the parts
 * that the prompts were packed into. */
#include "runlog_record.h"

#include "engine/base/table.h"

#include <limits.h>
#include <string.h>

/* Returns "disk" when the file below root still has the bytes that were read, so that a replay can read them there. */
static const char *origin_of(const myth_runlog *log, const myth_source *src, const char *hash)
{
    char path[PATH_MAX], now[72];
    unsigned char *bytes = NULL;
    size_t n = 0;
    const char *origin = "given";
    int k = snprintf(path, sizeof(path), "%s%s%s", log->root ? log->root : "", log->root ? "/" : "", src->path);
    if (k > 0 && k < (int)sizeof(path) && strcmp(src->path, "-") != 0 &&
        myth_cli_read(&bytes, &n, log->mem, path, MYTH_SOURCE_MAX, NULL) == MYTH_OK) {
        myth_runlog_hash_bytes(now, bytes, n);
        if (strcmp(now, hash) == 0)
            origin = "disk";
    }
    myth_free(log->mem, bytes);
    return origin;
}

static void put_files(myth_runlog *log)
{
    json_t *files = json_array();
    for (uint32_t i = 0; i < myth_material_n_source(log->material); i++) {
        const myth_source *src = myth_material_of(log->material, i);
        char hash[72];
        myth_runlog_hash_bytes(hash, src->bytes, src->len);
        json_t *kinds = json_array();
        uint32_t bits = myth_file_kinds(src->path, false, false);
        for (int k = 0; k < MYTH_KIND_KIND_N; k++)
            if (bits >> k & 1)
                json_array_append_new(kinds, json_string(myth_file_kind_name((myth_file_kind)k)));
        myth_record_append(log, files,
                           json_pack("{s:o, s:I, s:I, s:s, s:s, s:o}", "path", myth_record_exact(src->path), "bytes",
                                     (json_int_t)src->len, "lines", (json_int_t)src->n_line, "hash", hash, "origin",
                                     origin_of(log, src, hash), "kinds", kinds));
    }
    myth_record_set(log, log->doc, "files", files);
}

/* Returns the columns of white space before the text of a line that is not blank. */
static uint32_t indent_of(const myth_source *src, uint32_t idx)
{
    uint32_t n = 0;
    for (const myth_line *l = &src->line[idx]; n < l->len && strchr(" \t", src->bytes[l->off + n]); n++) {}
    return n;
}

static bool closes(const myth_source *src, uint32_t idx)
{
    return strchr("})]", src->bytes[src->line[idx].off + indent_of(src, idx)]) != NULL;
}

/* Whether the lines after `last` still belong to the same definition, as far as the indentation shows. They do not when
 * they begin at the margin, or are indented less after a blank line, or follow the end of a block. */
static bool is_cut_inside(const myth_source *src, uint32_t last)
{
    uint32_t before = last, next = last;
    if (last == 0 || last >= src->n_line || (next = src->line[last].next) >= src->n_line)
        return false;
    while (before > 0 && !src->line[before - 1].text_len)
        before--;
    if (before == 0)
        return false;
    bool has_blank = next - before > 0;
    if (closes(src, next))
        return true;
    if (indent_of(src, next) == 0)
        return false;
    return !has_blank || !(closes(src, before - 1) || indent_of(src, next) < indent_of(src, before - 1));
}

/* The blocks of the parts, those of each source behind each other and in the order of the parts, so that a piece
 * meets those of its own file alone. */
typedef struct {
    const myth_block *block;
    uint32_t part;
} shown_block;

typedef struct {
    shown_block *row;
    uint32_t *begin;        /* [n_source + 2] of source i: begin[i] up to begin[i + 1] */
    uint32_t *slot, n_slot; /* of the sources, by their addresses */
} shown_blocks;

static void close_blocks(shown_blocks *s, myth_mem *mem)
{
    myth_free(mem, s->row);
    myth_free(mem, s->begin);
    myth_free(mem, s->slot);
}

static bool is_source(const void *material, uint32_t idx, const void *src)
{
    return myth_material_of(material, idx) == src;
}

static uint32_t *source_slot(const shown_blocks *s, const myth_material *m, const myth_source *src)
{
    return myth_table_find(s->slot, s->n_slot, myth_hash_id((uint64_t)(uintptr_t)src), is_source, m, src);
}

/* How many parts come before a summary, which shows lines of the parts once more. */
static uint32_t n_shown_part(const myth_runlog *log)
{
    uint32_t n = 0;
    while (n < myth_inspect_n_part(log->in) && !myth_inspect_is_summary(log->in, n))
        n++;
    return n;
}

/* With row NULL counts the blocks of source i in begin[i + 2]. Else puts them at begin[i + 1], which ends where those
 * of the next source begin. */
static void walk_blocks(const shown_blocks *s, const myth_runlog *log, shown_block *row)
{
    const uint32_t n_part = n_shown_part(log);
    for (uint32_t i = 0, n_block, n_tok; i < n_part; i++) {
        const myth_block *b = myth_inspect_part(log->in, i, &n_block, &n_tok);
        for (uint32_t k = 0; k < n_block; k++) {
            const uint32_t source = *source_slot(s, log->material, b[k].src);
            if (source && row)
                row[s->begin[source]++] = (shown_block){&b[k], i};
            else if (source)
                s->begin[source + 1]++;
        }
    }
}

/* False: no memory. */
static bool open_blocks(shown_blocks *s, const myth_runlog *log)
{
    const uint32_t n = myth_material_n_source(log->material);
    s->n_slot = myth_table_slots(n);
    s->slot = myth_alloc_n(log->mem, MYTH_MEM_OTHER, "run log", s->n_slot, sizeof(*s->slot));
    s->begin = myth_alloc_n(log->mem, MYTH_MEM_OTHER, "run log", n + 2u, sizeof(*s->begin));
    if (!s->slot || !s->begin)
        return false;
    memset(s->slot, 0, s->n_slot * sizeof(*s->slot));
    memset(s->begin, 0, (n + 2u) * sizeof(*s->begin));
    for (uint32_t i = 0; i < n; i++)
        *source_slot(s, log->material, myth_material_of(log->material, i)) = i + 1;
    walk_blocks(s, log, NULL);
    for (uint32_t i = 0; i <= n; i++)
        s->begin[i + 1] += s->begin[i];
    s->row = myth_alloc_n(log->mem, MYTH_MEM_OTHER, "run log", s->begin[n + 1] + 1u, sizeof(*s->row));
    if (s->row)
        walk_blocks(s, log, s->row);
    return s->row != NULL;
}

/* Lines of a piece that stand in the blocks of each part; whether a part ends inside the piece. */
static json_t *shown_in(myth_runlog *log, const shown_blocks *s, const myth_piece *p, uint32_t *n_line, bool *is_cut)
{
    json_t *parts = json_array();
    const myth_source *src = myth_material_of(log->material, p->source);
    *n_line = 0;
    *is_cut = false;
    for (uint32_t i = s->begin[p->source], next; i < s->begin[p->source + 1]; i = next) {
        const uint32_t part = s->row[i].part;
        uint32_t here = 0;
        for (next = i; next < s->begin[p->source + 1] && s->row[next].part == part; next++) {
            const myth_block *b = s->row[next].block;
            const uint32_t first = b->first > p->first ? b->first : p->first,
                           last = b->last < p->last ? b->last : p->last;
            if (first > last || (p->is_subject && b->is_again))
                continue;
            here += last - first + 1;
            *is_cut = *is_cut || (last < p->last && is_cut_inside(src, last));
        }
        if (here)
            myth_record_append(log, parts, json_integer(part));
        *n_line += here;
    }
    return parts;
}

static void put_pieces(myth_runlog *log)
{
    json_t *pieces = json_array();
    shown_blocks blocks = {0};
    if (!open_blocks(&blocks, log)) {
        close_blocks(&blocks, log->mem);
        json_decref(pieces);
        myth_record_no_memory(log);
        return;
    }
    for (uint32_t i = 0; i < myth_material_n_piece(log->material); i++) {
        const myth_piece *p = myth_material_piece(log->material, i);
        uint32_t n_line;
        bool is_cut;
        json_t *parts = shown_in(log, &blocks, p, &n_line, &is_cut);
        json_t *j = json_pack("{s:I, s:[I, I], s:o, s:o, s:b, s:I, s:o, s:I, s:b}", "file", (json_int_t)p->source,
                              "lines", (json_int_t)p->first, (json_int_t)p->last, "symbol",
                              myth_record_text(log, p->symbol), "why", myth_record_text(log, p->why), "subject",
                              p->is_subject, "of", (json_int_t)(p->is_subject ? i : p->of), "parts", parts,
                              "shown_lines", (json_int_t)n_line, "cut_inside", is_cut);
        if (j)
            myth_record_set_real(log, j, "score", p->score);
        myth_record_append(log, pieces, j);
    }
    close_blocks(&blocks, log->mem);
    myth_record_set(log, log->doc, "pieces", pieces);
}

static void put_prompt(myth_runlog *log)
{
    char hash[MYTH_PROMPT_HASH_LEN + 1];
    json_t *parts = json_array();
    myth_prompt_hash(hash, log->io->style);
    for (uint32_t i = 0; i < myth_inspect_n_part(log->in); i++) {
        uint32_t n_block, n_tok;
        const myth_block *b = myth_inspect_part(log->in, i, &n_block, &n_tok);
        json_t *blocks = json_array();
        for (uint32_t k = 0; k < n_block; k++)
            myth_record_append(log, blocks,
                               json_pack("{s:o, s:[I, I]}", "path", myth_record_text(log, b[k].src->path), "lines",
                                         (json_int_t)b[k].first, (json_int_t)b[k].last));
        json_t *part = json_pack("{s:I, s:o}", "prompt_tokens", (json_int_t)n_tok, "blocks", blocks);
        if (part && myth_inspect_is_summary(log->in, i)) {
            char own[MYTH_PROMPT_HASH_LEN + 1];
            myth_prompt_hash(own, MYTH_PROMPT_SUMMARY);
            myth_record_set_text(log, part, "style", myth_prompt_style_name(MYTH_PROMPT_SUMMARY));
            myth_record_set_text(log, part, "hash", own);
        }
        myth_record_append(log, parts, part);
    }
    myth_record_set(
        log, log->doc, "prompt",
        json_pack("{s:s, s:s, s:o}", "style", myth_prompt_style_name(log->io->style), "hash", hash, "parts", parts));
}

void myth_record_shown(myth_runlog *log)
{
    if (!log->in)
        return;
    put_files(log);
    put_pieces(log);
    put_prompt(log);
}
