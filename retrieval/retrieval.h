/* retrieval.h - the one public face of the retriever. Knows nothing of the engine: embedding and counting tokens are
 * callbacks. */
#ifndef MYTH_RETRIEVAL_H
#define MYTH_RETRIEVAL_H

#include "retrieval/git/git_memory.h"
#include "retrieval/git/merge.h"
#include "retrieval/index/index.h"
#include "retrieval/lines/grep.h"
#include "retrieval/map/repomap.h"
#include "retrieval/map/summaries.h"
#include "retrieval/names/usage.h"
#include "retrieval/parse/chunk.h"
#include "retrieval/rank/rank.h"
#include "retrieval/rank/search.h"
#include "retrieval/rank/topic.h"
#include "retrieval/scan/scan.h"
#include "retrieval/vectors/vectors.h"
#include "revision.h"

#endif
