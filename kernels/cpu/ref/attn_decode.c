/* attn_decode.c   attn_prefill where each run has one row. The reference reduces both in the same order, so the bits
 * are the same too. */
#include "ref.h"

void cpu_ref_attn_decode(myth_stream *s, const struct myth_attn_args *a) { cpu_ref_attn_prefill(s, a); }
