/* adapter.h - writes a low-rank adapter that fits an open model, for tests that need one. Asserts through cmocka. */
#ifndef MYTH_TESTS_ADAPTER_H
#define MYTH_TESTS_ADAPTER_H

#include "rig.h"

#include "engine/make/gguf_write.h"
#include "engine/model/family.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Whether an adapter may add to the slot's matrix. */
static inline bool adapter_may_add(const myth_model *m, const myth_slot *s, uint32_t layer)
{
    return s->cols != MYTH_DIM_ONE && s->stack == MYTH_DIM_ONE && !s->is_part && s->form != MYTH_FORM_ROWS &&
           s != &myth_slots_model[MYTH_SLOT_EMBED] && myth_slot_find(m->weights, &m->config, s, layer).t;
}

static inline void adapter_noise(myth_gguf_writer *g, uint64_t n, float deviation, uint64_t *rng)
{
    for (uint64_t i = 0; i < n; i++) {
        const float x = (check_unit(rng) * 2 - 1) * 1.7320508f * deviation;
        myth_gguf_data(g, &x, sizeof(x));
    }
}

/* Writes an adapter of llama.cpp that adds noise to all matrices that it may, or to those whose name in GGUF holds
 * `only`. Returns path. */
static inline const char *adapter_make(const char *path, const myth_model *m, uint32_t rank, const char *only,
                                       uint64_t *rng)
{
    myth_gguf_writer *g = NULL;
    char hf[MYTH_SLOT_NAME_MAX], gguf[MYTH_SLOT_NAME_MAX], tensor[MYTH_SLOT_NAME_MAX + 16];
    uint32_t n = 0;
    for (int pass = 0; pass < 3; pass++) { /* count, declare, write */
        if (pass == 1) {
            const char *arch = myth_config_gguf_name(&m->config);
            assert_ok(myth_gguf_open(&g, m->mem, path, 2 * n, &rig_err));
            myth_gguf_put_str(g, "general.architecture", (myth_str){arch, strlen(arch)});
            myth_gguf_put_str(g, "general.type", (myth_str){"adapter", 7});
            myth_gguf_put_str(g, "adapter.type", (myth_str){"lora", 4});
            myth_gguf_put_f32(g, "adapter.lora.alpha", (float)rank);
        }
        for (myth_slot_iter it = {.at = 0}; myth_slot_next(&it, &m->config);) {
            const uint64_t n_out = myth_slot_rows(&m->config, it.slot, it.layer),
                           n_in = myth_slot_size(&m->config, it.layer, it.slot->cols);
            myth_slot_names(hf, gguf, it.slot, it.layer);
            if (!adapter_may_add(m, it.slot, it.layer) || (only && !strstr(gguf, only)))
                continue;
            n += pass == 0;
            for (int half = 0; half < 2 && pass == 1; half++) {
                snprintf(tensor, sizeof(tensor), "%s.lora_%c", gguf, 'a' + half);
                myth_gguf_declare(g, (myth_str){tensor, strlen(tensor)}, MYTH_F32, 2,
                                  half ? (const uint64_t[]){n_out, rank} : (const uint64_t[]){rank, n_in});
            }
            if (pass == 2) {
                adapter_noise(g, rank * n_in, 1.0f / sqrtf((float)n_in), rng);
                adapter_noise(g, n_out * rank, 0.1f, rng);
            }
        }
    }
    assert_true(n > 0);
    assert_ok(myth_gguf_close(g, true, &rig_err));
    return path;
}

/* The same of a model that is opened for it. */
static inline void adapter_make_of(const char *spec, const char *path, uint32_t rank, const char *only, uint64_t *rng)
{
    myth_mem *mem;
    myth_model m;
    assert_ok(myth_mem_open(&mem, 0, &rig_err));
    assert_ok(myth_model_open(&m, mem, spec, NULL, &rig_err));
    adapter_make(path, &m, rank, only, rng);
    myth_model_close(&m);
    assert_int_equal(myth_mem_close(mem), 0);
}

#endif
