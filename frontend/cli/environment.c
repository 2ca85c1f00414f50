/* environment.c - the table of environment variables, and the options that they fill. */
#include "environment.h"

#include <assert.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const myth_env_row table[] = {
    {"MYTHOS_CONFIG", "FILE", "the configuration file; if it is empty, no file is read"},
    {"MYTHOS_CPU", "LEVEL", "the instructions that the CPU may use: ref, avx2, avx512, amx, neon or auto, the best"},
    {"OMP_NUM_THREADS", "N", "threads of the CPU where --threads is 0"},
    {"HF_HUB_CACHE", "DIR", "the Hugging Face cache, where a model ORG/NAME is looked up"},
    {"HF_HOME", "DIR", "holds that cache as DIR/hub, where HF_HUB_CACHE is not set"},
    {"XDG_CACHE_HOME", "DIR",
     "holds the indexes as DIR/mythos, and the Hugging Face cache as DIR/huggingface/hub; ~/.cache where it is not "
     "set"},
    {"XDG_CONFIG_HOME", "DIR", "holds the configuration file as DIR/mythos/config; ~/.config where it is not set"},
    {"XDG_STATE_HOME", "DIR",
     "holds the log of runs as DIR/mythos/runs.db and measured rates as DIR/mythos/rates.csv; ~/.local/state where it "
     "is "
     "not set"},
    {"HOME", "DIR", "the home directory, ~; where it is not set, the cache is in the one that the system knows"},
    {"TMPDIR", "DIR", "holds temporary folders; /tmp where it is not set"},
    {"NO_COLOR", "1", "use no colours"},
    {"CLICOLOR_FORCE", "1", "use colours even if the output is not a terminal"},
    {"TERM", "dumb", "a terminal without colours and without progress lines"},
    {"CI", "1", "show no progress lines"},
    {"SOURCE_DATE_EPOCH", "SECONDS", "the day on an HTML page, in seconds since 1970, in place of the present one"},
    {"MYTHOS_TRACE", "ops", "print a line for every operation of the model: its shape, microseconds and a fingerprint"},
    {"MYTHOS_MEMINFO", "FILE",
     "what all processes use is read from FILE, which is like /proc/meminfo, and not from the system"},
    {"MYTHOS_VK_VALIDATE", "1", "run Vulkan devices under the Khronos validation layer"},
    {"MYTHOS_VK_TEXELS", "0", "give a Vulkan driver that runs on the CPU the programs of GPUs"},
#define KNOB(field, name, least, most, fallback) \
    {"MYTH_TUNE_" #name, "N", "a knob of CUDA devices, " #least " to " #most " (" #fallback ")"},
    MYTH_CUDA_KNOBS(KNOB)
#undef KNOB
};
enum { TABLE_N = sizeof(table) / sizeof(table[0]) };

const myth_env_row *myth_env_table(size_t *n)
{
    *n = TABLE_N;
    return table;
}

const char *myth_env_get(const char *name)
{
    size_t i = 0;
    while (i < TABLE_N && strcmp(table[i].name, name) != 0)
        i++;
    assert(i < TABLE_N && "a variable that the man page does not have");
    return getenv(name);
}

static bool is_value(const char *name, const char *value)
{
    const char *text = myth_env_get(name);
    return text && strcmp(text, value) == 0;
}

/* ---- devices ---- */

static myth_status read_knob(myth_knob *out, const char *name, long least, long most, myth_error *err)
{
    const char *text = myth_env_get(name);
    char *end = NULL;
    if (out->is_set || !text || !*text)
        return MYTH_OK;
    const long value = strtol(text, &end, 10);
    if (*end || value < least || value > most)
        return myth_fail(err, MYTH_EARG, "%s: got '%.32s', expected %ld to %ld; correct it or unset it", name, text,
                         least, most);
    *out = (myth_knob){.is_set = true, .value = (int)value};
    return MYTH_OK;
}

myth_status myth_env_device(const char **cpu_level, int *n_threads, myth_device_settings *settings, myth_error *err)
{
    myth_status st = MYTH_OK;
    const char *threads = myth_env_get("OMP_NUM_THREADS");
    const long n = *n_threads <= 0 && threads ? strtol(threads, NULL, 10) : 0;
    if (n > 0)
        *n_threads = n < INT_MAX ? (int)n : INT_MAX;
    if (!*cpu_level)
        *cpu_level = myth_env_get("MYTHOS_CPU");
    settings->trace_ops = settings->trace_ops || is_value("MYTHOS_TRACE", "ops");
    settings->vk_validate = settings->vk_validate || is_value("MYTHOS_VK_VALIDATE", "1");
    settings->vk_no_texels = settings->vk_no_texels || is_value("MYTHOS_VK_TEXELS", "0");
#define KNOB(field, name, least, most, fallback) \
    MYTH_TRY(read_knob(&settings->cuda.field, "MYTH_TUNE_" #name, least, most, err));
    MYTH_CUDA_KNOBS(KNOB)
#undef KNOB
fail:
    return st;
}

/* ---- folders ---- */

const char *myth_env_tmp_dir(void)
{
    const char *dir = myth_env_get("TMPDIR");
    return dir && dir[0] == '/' ? dir : "/tmp";
}

const char *myth_env_hub_dir(void)
{
    static char dir[PATH_MAX];
    static const struct {
        const char *variable, *tail;
    } place[] = {
        {"HF_HUB_CACHE", ""},
        {"HF_HOME", "/hub"},
        {"XDG_CACHE_HOME", "/huggingface/hub"},
        {"HOME", "/.cache/huggingface/hub"},
    };
    for (size_t i = 0; i < sizeof(place) / sizeof(place[0]); i++) {
        const char *text = myth_env_get(place[i].variable);
        if (text && *text)
            return snprintf(dir, sizeof(dir), "%s%s", text, place[i].tail) < (int)sizeof(dir) ? dir : NULL;
    }
    return NULL;
}

int myth_env_path(char *dst, size_t cap, const char *variable, const char *in_home, const char *tail)
{
    const char *base = myth_env_get(variable), *home = myth_env_get("HOME");
    const bool is_home = !base || base[0] != '/';
    base = is_home ? home : base;
    if (!base || base[0] != '/')
        return 0;
    return snprintf(dst, cap, "%s%s%s", base[1] ? base : "", is_home ? in_home : "", tail); /* "/" is its own slash */
}

const char *myth_env_cache_dir(void)
{
    static char dir[2 * PATH_MAX]; /* the index refuses a path that is too long, and says so */
    if (myth_env_path(dir, sizeof(dir), "XDG_CACHE_HOME", "/.cache", ""))
        return dir;
    /* what a shell takes ~ for where HOME is not set, as services and some clients of the tools start programs */
    struct passwd row, *user = NULL;
    char text[4096];
    if (getpwuid_r(geteuid(), &row, text, sizeof(text), &user) != 0 || !user || user->pw_dir[0] != '/')
        return NULL;
    snprintf(dir, sizeof(dir), "%s/.cache", user->pw_dir[1] ? user->pw_dir : "");
    return dir;
}
