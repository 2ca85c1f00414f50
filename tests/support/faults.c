/* faults.c - see faults.h. */
#include "faults.h"

#include <string.h>

myth_status session_run(myth_mem *mem, const session_shape *shape, session_output *out, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_model m = {0};
    myth_engine *e = NULL;
    myth_seq *s = NULL, *seq[SESSION_PROMPT_MAX];
    int32_t ids[SESSION_PROMPT_MAX];
    uint8_t want[SESSION_PROMPT_MAX] = {0};
    myth_result r;
    uint32_t n, n_prompt = shape->n_prompt;
    myth_finish why;
    assert_true(n_prompt && n_prompt <= SESSION_PROMPT_MAX && shape->n_new <= SESSION_NEW_MAX);
    memset(out, 0, sizeof(*out));
    MYTH_TRY(
        myth_model_open(&m, mem, "random:gemma2-tiny:q8_0", &(myth_weights_opts){.level = MYTH_WEIGHTS_DATA}, err));
    myth_engine_opts opts = shape->engine;
    rig_environment(&opts);
    MYTH_TRY(myth_engine_open(&e, &m, &opts, err));
    MYTH_TRY(myth_seq_open(&s, e, err));
    for (uint32_t i = 0; i < n_prompt; i++) {
        ids[i] = 3 + (int32_t)i * 4;
        seq[i] = s;
    }
    want[n_prompt - 1] = MYTH_WANT_LOGITS;
    MYTH_TRY(
        rig_forward(e, &(rig_tokens){.n_tok = n_prompt, .token = ids, .seq = seq, .want = want, .top_k = 4}, &r, err));
    for (uint32_t i = 0; i < shape->n_new; i++) {
        int32_t id = r.top_id[0];
        uint8_t one = MYTH_WANT_LOGITS;
        out->id[out->n++] = id;
        MYTH_TRY(rig_forward(e, &(rig_tokens){.n_tok = 1, .token = &id, .seq = &s, .want = &one, .is_decode = true}, &r,
                             err));
    }
    MYTH_TRY(myth_generate(e, s,
                           &(myth_generate_opts){.prompt = ids, .n_prompt = shape->n_again, .n_max = shape->n_new},
                           out->id + out->n, &n, &why, err));
    out->n += n;
fail:
    if (s)
        myth_seq_close(s);
    myth_engine_close(e);
    myth_model_close(&m);
    return st;
}

uint32_t faults_choose(uint64_t at[FAULT_KIND_MAX], uint64_t n, const char *(*call)(uint64_t nth), uint64_t *random)
{
    const char *name[FAULT_KIND_MAX];
    uint32_t seen[FAULT_KIND_MAX], n_kind = 0, k;
    for (uint64_t nth = 1; nth <= n && call(nth); nth++) {
        for (k = 0; k < n_kind && strcmp(name[k], call(nth)) != 0; k++)
            ;
        if (k == n_kind) {
            assert_true(n_kind < FAULT_KIND_MAX);
            name[n_kind] = call(nth);
            seen[n_kind++] = 0;
        }
        if (check_below(random, ++seen[k]) == 0)
            at[k] = nth;
    }
    return n_kind;
}

bool faults_is_not_found(myth_status st, const myth_error *err)
{
    return st == MYTH_EDEVICE && strstr(err->msg, "no such device");
}

void faults_nothing_booked(const myth_mem *mem, const char *what)
{
    for (int i = 0; i < MYTH_MEM_DEVICE_MAX * MYTH_MEM_CLASS_N; i++)
        if (myth_mem_get(mem, i / MYTH_MEM_CLASS_N, (myth_mem_class)(i % MYTH_MEM_CLASS_N)).live)
            fail_msg("%s leaves bytes of class %s", what, myth_mem_class_name((myth_mem_class)(i % MYTH_MEM_CLASS_N)));
}
