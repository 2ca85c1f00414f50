/* shares.h - one job divided among processes: those of this machine's devices, or of several machines.
 *
 * Shares    --share K/N computes the K-th of N shares of a job, keeps it in FILE.K-of-N.journal and writes no output.
 *           --share merge/N puts the N journals together and writes the output. Any share may be stopped and given
 *           again, like the whole job. Rows of residuals lie in a folder of each share until then (residual_rows.h)
 * Devices   --data-parallel does both: a process for each device of --device with a share, then one that merges. Each
 *           device has an engine of its own, and what one process loses (memory, a device) ends none of the others
 * Bits      those of one process: no row, sum or answer depends on what runs beside it (engine.h, journal.h)
 * Which     item i of a job is of share 1 + i % N; of embed, whose rows are kept in groups, the groups take turns
 * Memory    a limit of --mem-limit for the host, or half and so on of what there is, for each process; so with a device
 *           that is named more than once
 * Killed    the processes end with the one that began them; the same command goes on. A job that was begun in shares is
 *           not gone on with by another number of them, or without
 * Threads   one */
#ifndef MYTH_JOB_SHARES_H
#define MYTH_JOB_SHARES_H

#include "frontend/cli/cli.h"

#include <limits.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *share;
    bool data_parallel;
} myth_share_flags;

enum { MYTH_N_OPTIONS_SHARES = 2 };
extern const myth_option myth_options_shares[MYTH_N_OPTIONS_SHARES];
#define MYTH_GROUP_SHARES(type, field)                                                       \
    {                                                                                        \
        "several devices", myth_options_shares, MYTH_N_OPTIONS_SHARES, offsetof(type, field) \
    }

/* The first thing that a job does. Sets cli->share and n_share; merges the journals for merge/N, if that was not done
 * yet. With --data-parallel it runs the shares, and then this process becomes the one that merges: it returns only with
 * a failure. input: the file of prompts or texts; output may be NULL with is_dry. goes_on: --resume. MYTH_EARG: a flag
 * that does not go with shares. */
myth_status myth_shares_begin(myth_cli *cli, const myth_share_flags *f, const char *input, const char *output,
                              bool goes_on, bool is_dry, myth_error *err);
/* Into how many shares the job of this output was divided that shares_begin will forget, because it is begun anew; 0 =
 * none. Called before it. */
uint32_t myth_shares_forgotten(const myth_share_flags *f, const char *output, bool goes_on);
/* What the journal of this process is named after: the output, or FILE.K-of-N. */
const char *myth_shares_output(char dst[PATH_MAX], const myth_cli *cli, const char *output);
/* The flag that divides the job, for messages: "--share"; NULL = none is given. */
const char *myth_shares_flag(const myth_share_flags *f);
bool myth_shares_is_part(const myth_cli *cli); /* this process has a share, and writes no output */
/* Whether item (or group) number i is of this process's share; how many of n are. */
bool myth_shares_has(const myth_cli *cli, uint64_t i);
uint64_t myth_shares_count(const myth_cli *cli, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
