/* op_impl.h - what op.c needs for every op: a check of its arguments and its line in a trace. If an op lacks either,
 * the program does not link. */
#ifndef MYTH_OP_IMPL_H
#define MYTH_OP_IMPL_H

#include "device_impl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a trace line shows: the op's shape in words, and its main output of n elements. */
struct myth_op_trace {
    char shape[80];
    myth_view out;
    uint64_t n;
};

#define OP(name)                                                                \
    bool myth_check_##name(myth_stream *s, const struct myth_##name##_args *a); \
    void myth_trace_##name(struct myth_op_trace *t, const struct myth_##name##_args *a);
#include "ops.def"
#undef OP

/* The arguments of qkv_rope_store that do the second half of the fused op. */
struct myth_qkv_rope_store_args myth_store_part_of(const struct myth_norm_qkv_rope_store_args *a);

/* Waits for the op's output and writes its line; a failure stays in the stream. */
void myth_trace_log(myth_stream *s, const char *name, double us, const struct myth_op_trace *t);

#ifdef __cplusplus
}
#endif
#endif
