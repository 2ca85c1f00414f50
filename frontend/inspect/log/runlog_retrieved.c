/* runlog_retrieved.c - the record of what was found: the index, the hits of a search with their scores, and how the
 * model ordered them. */
#include "runlog_record.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Records the model that made the index's vectors; nothing when the index has no vectors. */
static void put_vectors(myth_runlog *log, myth_index *x)
{
    unsigned char model[16];
    char name[MYTH_VECTORS_NAME], hex[33];
    if (!myth_record_is_on(log) || myth_vectors_model(x, model, name, NULL) != MYTH_OK)
        return;
    for (int i = 0; i < 16; i++)
        snprintf(hex + 2 * i, 3, "%02x", model[i]);
    myth_record_set(log, log->doc, "vectors",
                    json_pack("{s:o, s:s}", "model", myth_record_text(log, name), "hash", hex));
}

void myth_runlog_index(myth_runlog *log, myth_index *x)
{
    myth_index_stats stats;
    sqlite3_stmt *q = NULL;
    char hex[40];
    char *list = NULL;
    size_t n_list = 0;
    int rc = 0;
    myth_error err = {0};
    if (!myth_record_is_on(log) || myth_index_last(x, &stats, NULL) != MYTH_OK)
        return;
    XXH3_state_t *h = XXH3_createState();
    FILE *f = open_memstream(&list, &n_list);
    bool ok = h && f && XXH3_128bits_reset(h) == XXH_OK &&
              sqlite3_prepare_v2(myth_store_db(myth_index_store(x)), "SELECT path, hash FROM files ORDER BY path", -1,
                                 &q, NULL) == SQLITE_OK;
    while (ok && (rc = sqlite3_step(q)) == SQLITE_ROW) {
        /* No separator between path and hash: a list divided elsewhere gives the same bytes only if bytes of a hash are
         * a path, which does not happen by chance. */
        for (int i = 0; i < 2; i++)
            XXH3_128bits_update(h, sqlite3_column_blob(q, i), (size_t)sqlite3_column_bytes(q, i));
        fwrite(sqlite3_column_blob(q, 0), 1, (size_t)sqlite3_column_bytes(q, 0), f);
        putc('\0', f);
    }
    if (ok && rc == SQLITE_DONE && f && fflush(f) == 0) {
        XXH128_canonical_t c;
        XXH128_canonicalFromHash(&c, XXH3_128bits_digest(h));
        strcpy(hex, "xxh3:");
        for (int i = 0; i < 16; i++)
            snprintf(hex + 5 + 2 * i, 3, "%02x", c.digest[i]);
        json_t *out = json_object();
        for (int r = 1; out && r < MYTH_SCAN_REASON_N; r++)
            if (stats.n_out[r])
                json_object_set_new(out, myth_scan_reason_name((myth_scan_reason)r),
                                    json_integer((json_int_t)stats.n_out[r]));
        myth_record_set(log, log->doc, "index",
                        json_pack("{s:o, s:o, s:s, s:I, s:I, s:I, s:o}", "path",
                                  myth_record_text(log, myth_index_path(x)), "root",
                                  myth_record_exact(myth_index_root(x)), "hash", hex, "files", (json_int_t)stats.n_file,
                                  "chunks", (json_int_t)stats.n_chunk, "bytes", (json_int_t)stats.bytes, "out", out));
        put_vectors(log, x);
        if (myth_record_is_on(log) && n_list <= MYTH_RUNLOG_TEXT_BYTES &&
            myth_runlog_file_put(log->file, log->run, "index_files", list, n_list, &err) != MYTH_OK)
            myth_record_give_up(log, &err);
    }
    sqlite3_finalize(q);
    XXH3_freeState(h);
    if (f)
        fclose(f);
    free(list);
}

void myth_runlog_given(myth_runlog *log, const myth_given *given, uint32_t n)
{
    json_t *list = myth_record_is_on(log) && n ? myth_record_section(log, "judged", true) : NULL;
    for (int passes = 1; passes >= 0 && list; passes--)
        for (uint32_t i = 0; i < n && json_array_size(list) < MYTH_RUNLOG_CANDIDATES; i++) {
            const myth_given *g = &given[i];
            if (g->passes != passes)
                continue;
            json_t *j =
                json_pack("{s:o, s:[I, I], s:o, s:b, s:o}", "path", myth_record_text(log, g->src->path), "lines",
                          (json_int_t)g->first, (json_int_t)g->last, "rule", myth_record_text(log, g->candidate),
                          "passes", (int)g->passes, "facts", myth_record_text(log, g->facts));
            if (j)
                myth_record_set_real(log, j, "probability", g->probability);
            if (j && g->said_line)
                json_object_set_new(j, "said_in_line", json_integer((json_int_t)g->said_line));
            myth_record_append(log, list, j);
        }
}

void myth_runlog_found(myth_runlog *log, const myth_runlog_candidate *c)
{
    json_t *list = myth_record_is_on(log) ? myth_record_section(log, "candidates", true) : NULL;
    if (!list || json_array_size(list) >= MYTH_RUNLOG_CANDIDATES)
        return;
    json_t *parts = json_object();
    json_t *j = json_pack("{s:o, s:[I, I], s:o, s:o, s:o, s:O}", "path", myth_record_text(log, c->path), "lines",
                          (json_int_t)c->first, (json_int_t)c->last, "symbol", myth_record_text(log, c->symbol), "kind",
                          myth_record_text(log, c->kind), "fate", myth_record_text(log, c->fate), "parts", parts);
    if (j)
        myth_record_set_real(log, j, "score", c->score);
    for (uint32_t i = 0; j && i < c->n_part; i++)
        myth_record_set_real(log, parts, c->part[i].name, c->part[i].value);
    json_decref(parts);
    myth_record_append(log, list, j);
}

static void put_hit(myth_runlog *log, const myth_hit *h, const char *fate)
{
    myth_runlog_found(log, &(myth_runlog_candidate){
                               .path = h->path,
                               .symbol = h->name,
                               .kind = h->kind_name,
                               .fate = fate,
                               .first = h->line0,
                               .last = h->line1,
                               .score = h->score,
                               .part = h->part,
                               .n_part = h->n_part,
                           });
}

/* Whether the search that the run used had this hit. */
static bool is_among(const myth_hits *hits, const myth_hit *h)
{
    for (uint32_t i = 0; i < hits->n_hit; i++)
        if (hits->hit[i].chunk_id == h->chunk_id)
            return true;
    return false;
}

void myth_runlog_search(myth_runlog *log, myth_index *x, const myth_search_opts *asked, const myth_hits *hits,
                        const uint32_t *order, uint32_t n_taken)
{
    myth_hits more = {0};
    myth_search_opts o = *asked;
    if (!myth_record_is_on(log))
        return;
    myth_runlog_say(log, "query", asked->query);
    myth_runlog_say(log, "query_kind", hits->query_kind);
    myth_runlog_say(log, "ranking", asked->weights);
    myth_runlog_say(log, "semantic", asked->vectors ? "on" : "off");
    myth_runlog_count(log, "search", "chunks_seen", (double)hits->n_seen);
    myth_runlog_count(log, "search", "terms", hits->n_term);
    myth_runlog_count(log, "search", "terms_dropped", hits->n_dropped);
    for (uint32_t i = 0; i < hits->n_hit; i++)
        put_hit(log, &hits->hit[order ? order[i] : i], i < n_taken ? "taken" : "below the cut");
    /* Only a search that found as many hits as it was asked for can have more below them. */
    o.k = MYTH_RUNLOG_BELOW;
    o.with_text = false;
    if (hits->n_hit >= asked->k && o.k > asked->k && myth_search(&more, x, &o, NULL) == MYTH_OK) {
        for (uint32_t i = 0; i < more.n_hit; i++)
            if (!is_among(hits, &more.hit[i]))
                put_hit(log, &more.hit[i], "below the cut");
        myth_hits_free(&more);
    }
}

void myth_runlog_rerank(myth_runlog *log, const char *question, const myth_candidate *c, const float *score,
                        const uint32_t *order, uint32_t n)
{
    json_t *lists = myth_record_is_on(log) ? myth_record_section(log, "reranks", true) : NULL, *list = json_array();
    for (uint32_t i = 0; lists && i < n && i < MYTH_RUNLOG_CANDIDATES; i++) {
        const myth_candidate *w = &c[order[i]];
        json_t *j = json_pack("{s:o, s:I, s:o}", "path", myth_record_text(log, w->path), "line", (json_int_t)w->line,
                              "symbol", myth_record_text(log, w->symbol));
        if (j)
            myth_record_set_real(log, j, "score", (double)score[order[i]]);
        myth_record_append(log, list, j);
    }
    if (lists && myth_record_is_on(log))
        myth_record_append(log, lists,
                           json_pack("{s:o, s:I, s:O}", "question", myth_record_text(log, question), "pieces",
                                     (json_int_t)n, "order", list));
    json_decref(list);
}
