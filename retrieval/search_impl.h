/* search_impl.h - the search on a store that the caller has open for reading; myth_search is this with the index's own. */
#ifndef MYTH_SEARCH_IMPL_H
#define MYTH_SEARCH_IMPL_H

#include "search.h"
#include "store.h"

/* *out is freed by myth_hits_free, also after a failure. */
myth_status myth_search_store(myth_hits *out, myth_store *store, myth_mem *mem, const myth_search_opts *opts, myth_error *err);

#endif
