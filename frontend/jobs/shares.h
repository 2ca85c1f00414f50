/* shares.h - one job divided among processes: those of this machine's devices, or of several machines.
 *
 * Shares    --share K/N computes the K-th of N shares of a job, keeps it in FILE.K-of-N.journal and writes no output.
 *           --share merge/N puts the N journals together and writes the output. Any share may be stopped and given
 *           again, like the whole job. Rows of residuals lie in a folder of each share until then (residual_rows.h)
 * Devices   --data-parallel does both: it starts a process for each device of --device, which computes a share, and
 *           then merges. Each process has an engine of its own, so a failure in one (memory, a device) does not end the
 *           others
 * Bits      the output is that of one process: no row, sum or answer depends on what runs beside it (engine.h,
 *           journal.h)
 * Which     item i of a job belongs to share 1 + i % N. The rows of embed are kept in groups; there group i does
 * Memory    the host's limit (--mem-limit, else the memory there is) is divided equally among the processes, and a
 *           device's limit among the processes on that device, if it is named more than once
 * Killed    the processes end with the one that started them, and the same command goes on from there. A job that was
 *           begun in N shares can only be continued in N shares
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
/* Called before myth_shares_begin: the number of shares of an earlier job with this output whose journals it will
 * remove, because the job is begun anew; 0 = none. */
uint32_t myth_shares_forgotten(const myth_share_flags *f, const char *output, bool goes_on);
/* What the journal of this process is named after: the output, or FILE.K-of-N. */
const char *myth_shares_output(char dst[PATH_MAX], const myth_cli *cli, const char *output);
/* The flag that divides the job, for messages: "--share"; NULL = none is given. */
const char *myth_shares_flag(const myth_share_flags *f);
bool myth_shares_is_part(const myth_cli *cli); /* this process has a share, and writes no output */
/* Whether item (or group) number i belongs to this process's share; how many of n items do. */
bool myth_shares_has(const myth_cli *cli, uint64_t i);
uint64_t myth_shares_count(const myth_cli *cli, uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
