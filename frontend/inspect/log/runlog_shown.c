/* runlog_shown.c - the record of what the model was shown: files, their pieces with the reason for each, and the parts
 * that the prompts were packed into. */
#include "runlog_record.h"

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

/* Lines of a piece that stand in the blocks of each part; whether a part ends inside the piece. A summary shows
 * lines of the parts once more and does not count. */
static json_t *shown_in(myth_runlog *log, const myth_piece *p, uint32_t *n_line, bool *is_cut)
{
    json_t *parts = json_array();
    const myth_source *src = myth_material_of(log->material, p->source);
    *n_line = 0;
    *is_cut = false;
    for (uint32_t i = 0; i < myth_inspect_n_part(log->in); i++) {
        uint32_t n_block, n_tok, here = 0;
        const myth_block *b = myth_inspect_part(log->in, i, &n_block, &n_tok);
        if (myth_inspect_is_summary(log->in, i))
            break;
        for (uint32_t k = 0; k < n_block; k++) {
            uint32_t first = b[k].first > p->first ? b[k].first : p->first,
                     last = b[k].last < p->last ? b[k].last : p->last;
            if (b[k].src != src || first > last || (p->is_subject && b[k].is_again))
                continue;
            here += last - first + 1;
            *is_cut = *is_cut || (last < p->last && is_cut_inside(src, last));
        }
        if (here)
            myth_record_append(log, parts, json_integer(i));
        *n_line += here;
    }
    return parts;
}

static void put_pieces(myth_runlog *log)
{
    json_t *pieces = json_array();
    for (uint32_t i = 0; i < myth_material_n_piece(log->material); i++) {
        const myth_piece *p = myth_material_piece(log->material, i);
        uint32_t n_line;
        bool is_cut;
        json_t *parts = shown_in(log, p, &n_line, &is_cut);
        json_t *j = json_pack("{s:I, s:[I, I], s:o, s:o, s:b, s:I, s:o, s:I, s:b}", "file", (json_int_t)p->source,
                              "lines", (json_int_t)p->first, (json_int_t)p->last, "symbol",
                              myth_record_text(log, p->symbol), "why", myth_record_text(log, p->why), "subject",
                              p->is_subject, "of", (json_int_t)(p->is_subject ? i : p->of), "parts", parts,
                              "shown_lines", (json_int_t)n_line, "cut_inside", is_cut);
        if (j)
            myth_record_set_real(log, j, "score", p->score);
        myth_record_append(log, pieces, j);
    }
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
