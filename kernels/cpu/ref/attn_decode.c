/* attn_decode.c   attn_prefill for one row per run: the reference reduces both in the same order, to the same bits. */
#include "ref.h"

void cpu_ref_attn_decode(myth_stream *s, const struct myth_attn_args *a) { cpu_ref_attn_prefill(s, a); }
