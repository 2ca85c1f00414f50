/* copy.c   copies bytes from view to view; the two ranges may overlap */
#include "ref.h"

#include <string.h>

void cpu_ref_copy(myth_stream *s, const struct myth_copy_args *a)
{
    (void)s;
    memmove(cpu_ptr(a->dst), cpu_ptr(a->src), (size_t)a->bytes);
}
