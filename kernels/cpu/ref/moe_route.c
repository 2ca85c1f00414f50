/* moe_route.c   chooses the k best experts of every row, computes their weights, and sorts all entries by expert
 *
 *   weight[r, j] = exp(s (z_j - z_0)) / sum_i exp(s (z_i - z_0)) * expert_scale[id_j]
 *
 * where z_0 >= z_1 >= .. are the k largest logits of the row and s is logit_scale.
 *
 * Precision  exponentials and their sum are double, since there are few
 * Order      the sort is a counting sort, which is stable: entries of one expert ascend
 * Threads    one, since a step has a few thousand entries at most */
#include "ref.h"

#include <string.h>

/* True when expert a comes before expert b. NaN counts as smaller than every number, so that k ids are chosen whatever
 * the logits are. */
static bool is_before(const float *z, uint32_t a, uint32_t b)
{
    return isnan(z[b]) ? !isnan(z[a]) || a < b : z[a] > z[b] || (z[a] == z[b] && a < b);
}

static void choose(const struct myth_moe_route_args *a, const float *z, int32_t *id, float *weight)
{
    const float *scale = cpu_f32(a->expert_scale);
    double e[MYTH_EXPERT_USED_MAX], total = 0.0;
    uint32_t n = 0;
    for (uint32_t x = 0; x < a->n_expert;
         x++) { /* insert x into the sorted list of at most k; a full list loses its last */
        uint32_t at = n;
        while (at > 0 && is_before(z, x, (uint32_t)id[at - 1]))
            at--;
        if (at == a->k)
            continue;
        n += n < a->k;
        for (uint32_t j = n - 1; j > at; j--)
            id[j] = id[j - 1];
        id[at] = (int32_t)x;
    }
    for (uint32_t j = 0; j < a->k; j++)
        total += e[j] = exp((double)a->logit_scale * ((double)z[id[j]] - (double)z[id[0]]));
    for (uint32_t j = 0; j < a->k; j++)
        weight[j] = (float)(e[j] / total) * (scale ? scale[id[j]] : 1.0f);
}

void cpu_ref_moe_route(myth_stream *s, const struct myth_moe_route_args *a)
{
    int32_t *id = cpu_i32(a->id), *offset = cpu_i32(a->offset), *order = cpu_i32(a->order), next[MYTH_EXPERT_MAX];
    const uint32_t n = a->n_rows * a->k;
    (void)s;
    for (uint64_t r = 0; r < a->n_rows; r++)
        choose(a, cpu_f32(a->logits) + r * a->n_expert, id + r * a->k, cpu_f32(a->weight) + r * a->k);
    memset(offset, 0, (a->n_expert + 1ull) * sizeof *offset);
    for (uint32_t i = 0; i < n; i++)
        offset[id[i] + 1]++;
    for (uint32_t e = 0; e < a->n_expert; e++) {
        next[e] = offset[e];
        offset[e + 1] += offset[e];
    }
    for (uint32_t i = 0; i < n; i++)
        order[next[id[i]]++] = (int32_t)i;
}
