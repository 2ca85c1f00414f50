/* retrieval.h - everything a caller of the retriever includes: scan a directory, index it, search it, map it, read
 * git.
 *
 * Callbacks  the retriever includes nothing of the engine but engine/base. The caller hands in the functions that
 *            turn texts into vectors (vectors.h) and count tokens (search.h, repomap.h)
 * Contract   units, ownership, errors and threads are stated in each header below */
#ifndef MYTH_RETRIEVAL_H
#define MYTH_RETRIEVAL_H

#include "retrieval/candidates/candidates.h"
#include "retrieval/git/damage.h"
#include "retrieval/git/git_memory.h"
#include "retrieval/git/merge.h"
#include "retrieval/index/index.h"
#include "retrieval/index/index_list.h"
#include "retrieval/lines/grep.h"
#include "retrieval/map/repomap.h"
#include "retrieval/map/summaries.h"
#include "retrieval/names/occurrence.h"
#include "retrieval/names/usage.h"
#include "retrieval/parse/chunk.h"
#include "retrieval/rank/rank.h"
#include "retrieval/rank/search.h"
#include "retrieval/rank/topic.h"
#include "retrieval/scan/languages.h"
#include "retrieval/scan/place.h"
#include "retrieval/scan/scan.h"
#include "retrieval/vectors/vectors.h"
#include "revision.h"

#endif
