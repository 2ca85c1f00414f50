/* environment.h - the environment variables that are not flags: the one table of them, which the man page prints, and
 * what fills the options of the libraries from them. (The variables of flags come from the flags' tables: args.h.)
 *
 * Adding   a row in environment.c. The libraries (engine, kernels, shaders, retrieval) read no variable: they have an
 *          option, and a function below fills it
 * Users    the command, the bench programs, and the tests' rig (tests/support/rig.h), so that MYTHOS_CPU=avx2 means the
 *          same to all of them
 * Owner    texts point into the environment or a static buffer: valid until the process ends or changes the variable
 * Threads  one */
#ifndef MYTH_ENVIRONMENT_H
#define MYTH_ENVIRONMENT_H

#include "engine/engine.h"

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct {
    const char *name, *value; /* "MYTHOS_TRACE", "ops" */
    const char *help;         /* a sentence without its full stop */
} myth_env_row;

const myth_env_row *myth_env_table(size_t *n);
/* The value of a variable of the table; NULL when it is not set. */
const char *myth_env_get(const char *name);

/* Fills what is still unset of a device's or an engine's options: cpu_level from MYTHOS_CPU, n_threads from
 * OMP_NUM_THREADS, settings from MYTHOS_TRACE, MYTHOS_VK_* and MYTH_TUNE_*. MYTH_EARG: a MYTH_TUNE_* variable is no
 * number of its range. */
myth_status myth_env_device(const char **cpu_level, int *n_threads, myth_device_settings *settings, myth_error *err);
/* Writes the path of something of the user's: `tail` ("/mythos/config") in the folder that the variable names, else in
 * `in_home` ("/.config") of the home directory. Relative paths do not count. Returns the length, as snprintf does; 0:
 * there is no such folder. */
int myth_env_path(char *dst, size_t cap, const char *variable, const char *in_home, const char *tail);
/* The folder of the Hugging Face cache, for myth_weights_opts: HF_HUB_CACHE, else HF_HOME/hub, else
 * XDG_CACHE_HOME/huggingface/hub, else ~/.cache/huggingface/hub. NULL when no variable names one. */
const char *myth_env_hub_dir(void);
/* The folder in which temporary files and folders are made: TMPDIR where it is absolute, else /tmp. */
const char *myth_env_tmp_dir(void);
/* The folder of caches, for myth_index_opts: XDG_CACHE_HOME, else ~/.cache, of the home directory that the system knows
 * where HOME is not set. Relative paths do not count. NULL when nothing names one. */
const char *myth_env_cache_dir(void);

#ifdef __cplusplus
}
#endif
#endif
