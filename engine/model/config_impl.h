/* config_impl.h - what the readers of a config share. Included by config*.c and families.c only.
 *
 * Facts    keys are looked up behind `prefix`; null counts as absent except where has() is asked
 * Errors   MYTH_EFORMAT with the key and what was expected                                              */
#ifndef MYTH_CONFIG_IMPL_H
#define MYTH_CONFIG_IMPL_H

#include "config.h"
#include "family.h"

struct myth_facts {
    const myth_weights *w;
    const myth_meta *m;
    char prefix[32]; /* "text_config." or "", "gemma3." */
    myth_error *err;
};

myth_status myth_facts_bad(const myth_facts *f, const char *name, const char *expected);
myth_status myth_facts_no_family(const myth_facts *f, myth_str name);
bool myth_facts_has(const myth_facts *f, const char *name);
const myth_meta_value *myth_facts_find(const myth_facts *f, const char *name);
/* A whole number in [lo, hi]; absent or null leaves *out as it is, and 0 there means that it must be present. */
myth_status myth_facts_u32(const myth_facts *f, uint32_t *out, const char *name, uint32_t lo, uint32_t hi);
/* The same, but absent leaves a 0 too. */
myth_status myth_facts_u32_or(const myth_facts *f, uint32_t *out, const char *name, uint32_t lo, uint32_t hi);
/* Absent leaves *out. */
myth_status myth_facts_f64(const myth_facts *f, double *out, const char *name, double lo, double hi);
/* null means none. */
myth_status myth_facts_cap(const myth_facts *f, float *out, const char *name, double absent, double lo);
myth_status myth_facts_str(const myth_facts *f, myth_str *out, const char *name);
myth_status myth_facts_bool(const myth_facts *f, bool *out, const char *name, bool absent);
/* A number, or an array with one for each layer, into `field` of the layers; absent is an error. */
myth_status myth_facts_per_layer(const myth_facts *f, myth_config *c, const char *name, size_t field, uint32_t hi);

void myth_facts_set_layers(myth_config *c, uint32_t n_head_kv, uint32_t head_dim, uint32_t d_ff);
/* Layer l is global when (l + 1) mod period = 0; period 0: all are. */
void myth_facts_set_period(myth_config *c, uint32_t period);
bool myth_facts_has_local(const myth_config *c);
/* Whether the family's local layers turn their keys at a base of their own, and only global ones may be scaled. */
static inline bool myth_facts_has_two_ropes(const myth_config *c) { return myth_family_get(c->family)->has_two_ropes; }
/* The last n_shared layers read the K/V of the last layer of their kind before them; MYTH_EFORMAT where there is none.
 */
myth_status myth_facts_set_shared(const myth_facts *f, myth_config *c, uint32_t n_shared, const char *name);
/* What is loaded that the config need not say: 0 without tensors. */
uint64_t myth_facts_dim(const myth_facts *f, const char *hf, const char *gguf, uint32_t i);

myth_status myth_config_read_json(myth_facts *f, myth_config *c);
myth_status myth_config_read_gguf(myth_facts *f, myth_config *c);
/* read_json and read_gguf of these families. */
myth_status myth_config_json_gemma3n(const myth_facts *f, myth_config *c, const myth_family_class *as);
myth_status myth_config_json_gemma4(const myth_facts *f, myth_config *c, const myth_family_class *as);
myth_status myth_config_gguf_gemma3n(const myth_facts *f, myth_config *c);
myth_status myth_config_gguf_gemma4(const myth_facts *f, myth_config *c);

#endif
