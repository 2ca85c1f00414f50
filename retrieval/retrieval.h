/* retrieval.h - the one public face of the retriever. Knows nothing of the engine: embedding and counting tokens are callbacks. */
#ifndef MYTH_RETRIEVAL_H
#define MYTH_RETRIEVAL_H

#include "chunk.h"
#include "corpus.h"
#include "grep.h"
#include "index.h"
#include "scan.h"
#include "search.h"
#include "vectors.h"

#endif
