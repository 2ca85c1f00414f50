/* imatrix_tap.h - what goes into every matrix product of an engine, squared and summed by column: the gathering side of
 * imatrix.h.
 *
 * Device   all parts on the CPU
 * Sums     in double, rows in the order of the batch: the bits do not depend on threads or micro-batches of the same
 *          prefill
 * Off      an engine without a tap looks at one flag an op
 * Memory   myth_imatrix_tap_bytes, class OTHER; nothing is taken later but the file's buffer
 * Owner    close before the engine
 * Errors   MYTH_EDEVICE; MYTH_EFORMAT names the matrix into which something not finite went */
#ifndef MYTH_IMATRIX_TAP_H
#define MYTH_IMATRIX_TAP_H

#include "engine/engine.h"

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

typedef struct myth_imatrix_tap myth_imatrix_tap;

uint64_t myth_imatrix_tap_bytes(const myth_model *m);
/* Every forward from now on is counted, until close. */
myth_status myth_imatrix_tap_open(myth_imatrix_tap **out, myth_engine *e, myth_error *err);
void myth_imatrix_tap_close(myth_imatrix_tap *t); /* takes NULL */
/* Writes what was gathered so far; datasets are names of texts, for people. What writing books:
 * myth_imatrix_tap_write_bytes. */
myth_status myth_imatrix_tap_write(const myth_imatrix_tap *t, const char *path, uint32_t n_chunk, uint32_t chunk_size,
                                   const char *const *dataset, uint32_t n_dataset, myth_error *err);
uint64_t myth_imatrix_tap_write_bytes(const myth_model *m);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
