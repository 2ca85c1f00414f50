/* retrieval.h - the one public face of the retriever. Knows nothing of the engine: embedding and counting tokens are callbacks. */
#ifndef MYTH_RETRIEVAL_H
#define MYTH_RETRIEVAL_H

#include "chunk.h"
#include "corpus.h"
#include "grep.h"
#include "index.h"
#include "merge.h"
#include "plain.h"
#include "rank.h"
#include "repomap.h"
#include "revision.h"
#include "scan.h"
#include "search.h"
#include "snapshot.h"
#include "summaries.h"
#include "topic.h"
#include "usage.h"
#include "vectors.h"

#endif
