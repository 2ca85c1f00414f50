/* select_topic.c - selects the chunks that a question is about, in the order of topic.h.
 *
 * Part    a chunk may be one part of a definition that was cut. A short definition is then selected whole; of a longer
 *         one, the chunks before and after become context */
#include "select_impl.h"

#include <sqlite3.h>
#include <string.h>

typedef struct {
    uint32_t line0, line1;
    bool is_there, is_part;
} neighbour;

/* Finds the chunks before and after a hit in its file. The chunks of a file have consecutive ids. */
static myth_status find_neighbours(myth_select *s, neighbour side[3], const myth_hit *h, myth_error *err)
{
    myth_store *store = myth_index_store(s->index);
    sqlite3_stmt *q = NULL;
    memset(side, 0, 3 * sizeof(*side));
    int rc = sqlite3_prepare_v2(myth_store_db(store),
                                "SELECT id, line0, line1, flags FROM chunks WHERE id BETWEEN ?1 AND ?2 AND file_id=?3",
                                -1, &q, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_bind_int64(q, 1, h->chunk_id - 1);
        sqlite3_bind_int64(q, 2, h->chunk_id + 1);
        sqlite3_bind_int64(q, 3, h->file_id);
        while ((rc = sqlite3_step(q)) == SQLITE_ROW) {
            int64_t at = sqlite3_column_int64(q, 0) - h->chunk_id + 1;
            if (at >= 0 && at < 3)
                side[at] = (neighbour){(uint32_t)sqlite3_column_int64(q, 1), (uint32_t)sqlite3_column_int64(q, 2), true,
                                       (sqlite3_column_int64(q, 3) & MYTH_CHUNK_PART) != 0};
        }
    }
    sqlite3_finalize(q);
    return myth_store_fail(store, rc, err);
}

static myth_status add_hit(myth_select *s, myth_material *m, const myth_hit *h, myth_select_counts *counts,
                           myth_error *err)
{
    neighbour side[3];
    myth_usage_around around;
    bool is_new, is_around = false;
    uint32_t index;
    myth_wanted w = {
        .path = h->path,
        .name = h->name,
        .parent = h->parent,
        .why = "search",
        .line = h->line0,
        .line0 = h->line0,
        .line1 = h->line1,
        .score = h->score,
        .is_subject = true,
    };
    myth_status st = find_neighbours(s, side, h, err);
    bool has_before = side[0].is_there && side[1].is_part, has_behind = side[2].is_there && side[2].is_part;
    if (st == MYTH_OK && (has_before || has_behind))
        st = myth_usage_around_line(&around, &is_around, s->index, h->path, h->line0, err);
    if (st != MYTH_OK)
        return st;
    if (is_around && around.line1 - around.line0 < MYTH_SELECT_WHOLE) {
        w.line0 = around.line0 < w.line0 ? around.line0 : w.line0;
        w.line1 = around.line1 > w.line1 ? around.line1 : w.line1;
        has_before = has_behind = false;
    }
    st = myth_select_add(s, &index, &is_new, m, &w, err);
    if (st != MYTH_OK || !is_new)
        return st;
    counts->n_subject++;
    for (int k = 0; k < 3 && st == MYTH_OK; k += 2) {
        if (k == 0 ? !has_before : !has_behind)
            continue;
        myth_wanted c = {
            .path = h->path,
            .name = h->name,
            .parent = h->parent,
            .why = k ? "the definition goes on" : "the definition before it",
            .line = side[k].line0,
            .line0 = side[k].line0,
            .line1 = side[k].line1,
            .score = h->score,
            .of = index,
        };
        st = myth_select_add(s, NULL, &is_new, m, &c, err);
        counts->n_context += st == MYTH_OK && is_new;
    }
    return st;
}

/* Decides in which order hits are added: in their own order, or, with a ranker, the first MYTH_TOPIC_CANDIDATES in the
 * ranker's order. */
static myth_status order_hits(myth_select *s, uint32_t order[MYTH_TOPIC_KEPT], const myth_hits *hits,
                              const char *question, myth_error *err)
{
    myth_candidate c[MYTH_TOPIC_CANDIDATES];
    uint32_t n = hits->n_hit < MYTH_TOPIC_CANDIDATES ? hits->n_hit : MYTH_TOPIC_CANDIDATES;
    for (uint32_t i = 0; i < hits->n_hit; i++)
        order[i] = i;
    for (uint32_t i = 0; i < n; i++) {
        const myth_hit *h = &hits->hit[i];
        c[i] = (myth_candidate){
            .path = h->path,
            .symbol = h->name,
            .text = h->text,
            .n_text = h->n_text,
            .line = h->line0,
        };
    }
    return s->rank && n > 1 ? s->rank(s->rank_user, question, c, n, order, err) : MYTH_OK;
}

static bool is_below(void *user, const char *path) { return myth_select_is_below(user, path); }

myth_status myth_select_topic(myth_select *s, myth_material *m, const char *question, uint32_t most,
                              const myth_search_opts *opts, myth_select_counts *counts, myth_error *err)
{
    myth_hits hits = {0};
    myth_search_opts o = *opts;
    myth_status st = MYTH_OK;
    *counts = (myth_select_counts){0};
    uint32_t order[MYTH_TOPIC_KEPT], n_taken;
    o.query = question;
    if (s->scope[0]) {
        o.wants_file = is_below;
        o.user = s;
    }
    MYTH_TRY(myth_topic(&hits, &n_taken, s->index, &o, most, err));
    MYTH_TRY(order_hits(s, order, &hits, question, err));
    o.k = MYTH_TOPIC_KEPT;
    o.weights = o.weights ? o.weights : MYTH_TOPIC_WEIGHTS;
    if (s->on_search)
        s->on_search(s->on_search_user, &o, &hits, order, n_taken);
    for (uint32_t i = 0; i < n_taken; i++)
        MYTH_TRY(add_hit(s, m, &hits.hit[order[i]], counts, err));
    if (counts->n_subject == 0 && s->missed.n == 0)
        st = myth_fail(err, MYTH_ENOTFOUND, MYTH_TOPIC_NOTHING ": %.160s", question);
fail:
    myth_hits_free(&hits);
    return st;
}
