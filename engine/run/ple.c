/* ple.c - rows of the table of per-layer embeddings, brought to a device that does not hold it: a few KiB a token, the
 * table itself is never copied. From a file a row is read where it is mapped; of a random: model it is made from the
 * seed. */
#include "engine_impl.h"

#include "engine/base/map.h"
#include "engine/base/blocks.h"

void myth_ple_bring(myth_engine *e, const myth_part *p)
{
    const myth_model *m = e->model;
    const myth_config *c = &m->config;
    const myth_slot *s = myth_family_get(c->family)->model_slots;
    const uint64_t n = (uint64_t)c->n_layer * c->n_ple;
    float *row = e->host[MYTH_HOST_ple];
    if (!e->layout.ple_by_host || e->first_failure.code != MYTH_OK)
        return;
    while (s->form != MYTH_FORM_ROWS)
        s++;
    const myth_slot_src src = myth_slot_find(m->weights, c, s, 0);
    for (uint32_t r = 0; r < e->idx.n_rows; r++, row += n) {
        const uint32_t id = (uint32_t)e->idx.id[r] < c->n_ple_vocab ? (uint32_t)e->idx.id[r]
                                                                    : 0; /* the pad row stands for ids outside */
        if (myth_weights_get_format(m->weights) == MYTH_FORMAT_RANDOM) {
            if (myth_weights_random_row(m->weights, src.t, id, row, &e->first_failure) != MYTH_OK)
                return;
            continue;
        }
        const unsigned char *at = src.data + myth_row_bytes(src.t->dtype, id * n);
        myth_dequant_row(src.t->dtype, row, at, n);
        if (e->layout.opts.ple == MYTH_PLE_DISK)
            myth_map_let_go(at, myth_row_bytes(src.t->dtype, n));
    }
    myth_stream_write(p->stream, p->step.ple_rows, e->host[MYTH_HOST_ple], 4 * n * e->idx.n_rows);
}
