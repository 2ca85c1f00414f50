/* memory.c - what each memory flag promises, checked on the reports of small runs. */
#include "selftest.h"

#include "engine/base/asan.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define MODEL "-m ~/m.gguf --load-mode pread"
#define RUN   "generate -p hello " MODEL " -n 4 --temp 0 -q"

static uint64_t u64_of(const json_t *o, const char *key)
{
    const json_int_t v = json_integer_value(json_object_get(o, key));
    return v > 0 ? (uint64_t)v : 0;
}

#define ALL "total_bytes"

/* Of a plan, or of a device in it: the bytes of a class, or in all with cls ALL. */
static uint64_t bytes_of(const json_t *plan, const char *cls)
{
    return u64_of(strcmp(cls, ALL) == 0 ? plan : json_object_get(plan, "classes"), cls);
}

/* The bytes that a plan has of a class, or in all; 0 = it failed. */
static uint64_t planned(myth_selftest *t, const char *cls, const char *flags)
{
    json_t *plan;
    uint64_t n = 0;
    if (myth_selftest_run(t, &plan, "plan --json %s", flags) == 0)
        n = bytes_of(plan, cls);
    json_decref(plan);
    return n;
}

/* Of two plans the second has fewer bytes of a class. */
static bool is_less(myth_selftest *t, const char *cls, const char *flags, const char *other)
{
    const uint64_t a = planned(t, cls, flags), b = planned(t, cls, other);
    return myth_selftest_say(t, a && b && b < a, "%s: %" PRIu64 " bytes, then %" PRIu64, cls, a, b);
}

static bool report_equals_plan(myth_selftest *t)
{
    const char *name;
    json_t *v;
    uint64_t n_class = 0, n_wrong = 0, sum = 0;
    const int code = myth_selftest_run(t, NULL, RUN " -c 256 --mem-report ~/r.json");
    json_t *report = myth_selftest_file(t, "r.json");
    json_object_foreach(json_object_get(report, "classes"), name, v)
    {
        const uint64_t plan = u64_of(v, "planned"), peak = u64_of(v, "peak");
        n_class++;
        sum += peak;
        n_wrong += strcmp(name, "staging") == 0 ? peak > plan : peak != plan;
        n_wrong += u64_of(v, "live") != 0;
    }
    json_decref(report);
    return myth_selftest_say(t, code == 0 && n_class && !n_wrong && sum,
                             "exit code %d, %" PRIu64 " of %" PRIu64 " classes differ", code, n_wrong, n_class);
}

static bool limit_holds(myth_selftest *t)
{
    const uint64_t need = planned(t, "total_bytes", MODEL " -c 256 -ub 64");
    const int code =
        myth_selftest_run(t, NULL, RUN " -c 256 -ub 64 --mem-limit %" PRIu64 " --mem-report ~/r.json", need);
    json_t *report = myth_selftest_file(t, "r.json");
    const uint64_t peak = u64_of(report, "peak_bytes");
    json_decref(report);
    const int less = myth_selftest_run(t, NULL, RUN " -c 256 -ub 64 --mem-limit %" PRIu64, need - 65536);
    return myth_selftest_say(t, code == 0 && peak && peak <= need && less == MYTH_EXIT_MEMORY,
                             "limit %" PRIu64 ": exit code %d, peak %" PRIu64 "; 64 KiB less: exit code %d", need, code,
                             peak, less);
}

static bool limit_takes_shares(myth_selftest *t)
{
    const int half = myth_selftest_run(t, NULL, RUN " --mem-limit 50%%"),
              most = myth_selftest_run(t, NULL, RUN " --mem-limit all-64MiB"),
              byte = myth_selftest_run(t, NULL, RUN " --mem-limit 0.5");
    return myth_selftest_say(t, half == 0 && most == 0 && byte == MYTH_EXIT_USAGE,
                             "exit codes: 50%% %d, all-64MiB %d, 0.5 %d", half, most, byte);
}

static bool limit_is_read_from_a_file(myth_selftest *t)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/limit", t->dir);
    FILE *f = fopen(path, "we");
    if (!f || fputs("1KiB\n", f) < 0 || fclose(f) != 0)
        return myth_selftest_say(t, false, "%s cannot be written", path);
    const int code = myth_selftest_run(t, NULL, RUN " --mem-limit @~/limit");
    return myth_selftest_say(t, code == MYTH_EXIT_MEMORY, "1 KiB: exit code %d", code);
}

static bool gigabytes_are_a_limit(myth_selftest *t)
{
    const int little = myth_selftest_run(t, NULL, RUN " --max-memory-gb 0.001"),
              much = myth_selftest_run(t, NULL, RUN " --max-memory-gb 1");
    return myth_selftest_say(t, little == MYTH_EXIT_MEMORY && much == 0, "exit codes: 0.001 %d, 1 %d", little, much);
}

/* The plan is that of the same flags. */
static bool file_says_flags(myth_selftest *t)
{
    char path[PATH_MAX];
    snprintf(path, sizeof(path), "%s/config.json", t->dir);
    FILE *f = fopen(path, "we");
    if (!f || fputs("{\"max_cache_tokens\": 640, \"max_memory_gb\": 0.001}", f) < 0 || fclose(f) != 0)
        return myth_selftest_say(t, false, "%s cannot be written", path);
    const uint64_t a = planned(t, "kv_global", MODEL " -c 640"),
                   b = planned(t, "kv_global", MODEL " --config ~/config.json");
    const int code = myth_selftest_run(t, NULL, RUN " --config ~/config.json");
    return myth_selftest_say(
        t, a && a == b && code == MYTH_EXIT_MEMORY,
        "keys and values by flag %" PRIu64 " bytes, by file %" PRIu64 "; under 1 MiB: exit code %d", a, b, code);
}

/* Every suggestion of a refusal is accepted. */
static bool suggestions_fit(myth_selftest *t)
{
    json_t *plan, *s;
    size_t i, n_wrong = 0;
    const uint64_t need = planned(t, "total_bytes", MODEL " -c 2048 -ub 256");
    myth_selftest_run(t, &plan, "plan --json " MODEL " -c 2048 -ub 256 --mem-limit %" PRIu64, need / 2);
    const json_t *list = json_object_get(plan, "suggestions");
    const size_t n = json_array_size(list);
    json_array_foreach(list, i, s)
    {
        const char *change = json_string_value(json_object_get(s, "change"));
        char limit[48] = "";
        json_t *again;
        change = change ? change : "";
        if (!strstr(change, "--mem-limit"))
            snprintf(limit, sizeof(limit), "--mem-limit %" PRIu64, need / 2);
        myth_selftest_run(t, &again, "plan --json " MODEL " %s %s %s %s", strstr(change, "-c ") ? "" : "-c 2048",
                          strstr(change, "-ub ") ? "" : "-ub 256", limit, change);
        n_wrong += !json_is_true(json_object_get(again, "fits"));
        json_decref(again);
    }
    json_decref(plan);
    return myth_selftest_say(t, n > 0 && n_wrong == 0, "%zu suggestions, %zu of them do not fit", n, n_wrong);
}

static bool context_is_rows(myth_selftest *t)
{
    const uint64_t a = planned(t, "kv_global", MODEL " -c 512"), b = planned(t, "kv_global", MODEL " -c 1024"),
                   c = planned(t, "kv_global", MODEL " --max-cache-tokens 1024");
    return myth_selftest_say(t, a && b == 2 * a && c == b,
                             "keys and values of 512 and 1,024 tokens: %" PRIu64 " and %" PRIu64 " bytes", a, b);
}

static bool keys_are_smaller(myth_selftest *t)
{
    return is_less(t, "kv_global", MODEL " -c 1024 -ctv f16", MODEL " -c 1024 -ctv f16 -ctk q8_0");
}
static bool values_are_smaller(myth_selftest *t)
{
    return is_less(t, "kv_global", MODEL " -c 1024 -ctk f16", MODEL " -c 1024 -ctk f16 -ctv q8_0");
}
static bool steps_are_smaller(myth_selftest *t) { return is_less(t, "activations", MODEL " -ub 256", MODEL " -ub 32"); }
static bool batches_bound_steps(myth_selftest *t)
{
    return is_less(t, "activations", MODEL " -ub 256", MODEL " -ub 256 -b 64");
}
static bool sequences_cost(myth_selftest *t) { return is_less(t, "kv_global", MODEL " -np 4", MODEL " -np 1"); }
static bool mapped_is_not_copied(myth_selftest *t)
{
    return is_less(t, "weights", "-m ~/m.gguf --load-mode pread", "-m ~/m.gguf --load-mode mmap");
}
static bool batches_cost(myth_selftest *t)
{
    return is_less(t, "total_bytes", MODEL " --for residuals --batch 64 ~/prompts.jsonl",
                   MODEL " --for residuals --batch 1 ~/prompts.jsonl");
}

/* The bytes that a plan has of a class, or in all, on a GPU, which need not be there; 0 = it failed. */
static uint64_t on_device(myth_selftest *t, const char *model, const char *device, const char *cls, const char *flags)
{
    json_t *plan;
    uint64_t n = 0;
    if (myth_selftest_run(t, &plan, "plan --json %s --device %s --mem-limit cuda:0=1GiB,cuda:1=1GiB -c 2048 %s", model,
                          device, flags) == 0)
        n = bytes_of(json_array_get(json_object_get(plan, "devices"), 1), cls);
    json_decref(plan);
    return n;
}

/* On the first GPU, the second flags need less than the first ones. */
static bool is_less_on(myth_selftest *t, const char *model, const char *device, const char *cls, const char *flags,
                       const char *other)
{
    const uint64_t all = on_device(t, model, device, cls, flags), less = on_device(t, model, device, cls, other);
    return myth_selftest_say(t, all && less && less < all, "on the device %" PRIu64 " bytes, with %s %" PRIu64, all,
                             other, less);
}

static bool is_less_there(myth_selftest *t, const char *flags)
{
    return is_less_on(t, MODEL, "cuda:0", ALL, "", flags);
}

static bool head_stays_on_the_host(myth_selftest *t) { return is_less_there(t, "--head host"); }
static bool weights_stay_on_the_host(myth_selftest *t) { return is_less_there(t, "--offload weights"); }
static bool rows_stay_on_the_host(myth_selftest *t) { return is_less_there(t, "--offload kv"); }
static bool all_pages_stay_on_the_host(myth_selftest *t) { return is_less_there(t, "--no-kv-offload"); }
static bool pages_stay_on_the_host(myth_selftest *t) { return is_less_there(t, "--n-host-kv 1"); }
static bool layers_stay_on_the_host(myth_selftest *t) { return is_less_there(t, "-ngl 1"); }
static bool some_layers_are_brought(myth_selftest *t)
{
    return is_less_on(t, MODEL, "cuda:0", ALL, "--offload weights --offload-layers 1", "--offload weights");
}
static bool devices_get_shares(myth_selftest *t)
{
    return is_less_on(t, MODEL, "cuda:0,cuda:1", ALL, "-ts 3,1", "-ts 1,3");
}
#define EXPERTS "-m random:gemma4-moe-tiny:q8_0"
static bool experts_stay_on_the_host(myth_selftest *t)
{
    return is_less_on(t, EXPERTS, "cuda:0", ALL, "", "--cpu-moe");
}
static bool some_experts_stay_there(myth_selftest *t)
{
    return is_less_on(t, EXPERTS, "cuda:0", ALL, "", "--n-cpu-moe 1") &&
           is_less_on(t, EXPERTS, "cuda:0", ALL, "--n-cpu-moe 1", "--cpu-moe");
}
static bool the_table_stays_where_it_is(myth_selftest *t)
{
    return is_less_on(t, "-m random:gemma4-e-tiny:q8_0", "cuda:0", "weights", "--ple device", "--ple host");
}

/* The most tokens of a position, of an answer in which every token is likely enough. */
static size_t most_members(myth_selftest *t, uint32_t most)
{
    json_t *answer, *set;
    size_t i, n = 0;
    myth_selftest_run(t, &answer, RUN " --json --parallel-threshold 0.000001 --max-parallel-tokens %u", most);
    json_array_foreach(json_object_get(answer, "sets"), i, set)
    {
        const size_t here = json_array_size(json_object_get(set, "members"));
        n = here > n ? here : n;
    }
    json_decref(answer);
    return n;
}

static bool positions_have_so_many_tokens(myth_selftest *t)
{
    const size_t two = most_members(t, 2), five = most_members(t, 5);
    return myth_selftest_say(t, two == 2 && five == 5, "at most 2: %zu, at most 5: %zu", two, five);
}

/* The line of an event in a stream of --mem-report; NULL = there is none. */
static json_t *line_of(const myth_selftest *t, const char *name, const char *event)
{
    char path[PATH_MAX], line[1 << 14];
    json_t *o = NULL;
    snprintf(path, sizeof(path), "%s/%s", t->dir, name);
    FILE *f = fopen(path, "re");
    while (f && !o && fgets(line, sizeof(line), f)) {
        o = json_loads(line, 0, NULL);
        const char *is = json_string_value(json_object_get(o, "event"));
        if (!is || strcmp(is, event) != 0) {
            json_decref(o);
            o = NULL;
        }
    }
    if (f)
        fclose(f);
    return o;
}

/* What is resident when the run is ready, and what it has taken from the plan. */
static int ready(myth_selftest *t, const char *mode, uint64_t *resident, uint64_t *used)
{
    const int code = myth_selftest_run(t, NULL, RUN " -c 8192 --mem-mode %s --mem-report ~/ready.jsonl", mode);
    json_t *line = line_of(t, "ready.jsonl", "ready");
    *resident = u64_of(line, "rss_anon_bytes");
    *used = u64_of(line, "used_bytes");
    json_decref(line);
    return code;
}

static bool reserved_is_resident(myth_selftest *t)
{
    enum { BESIDE = 8 << 20 }; /* the program's own, beside the plan */
    uint64_t shared, reserved, used, same;
    const int share = ready(t, "share", &shared, &same), reserve = ready(t, "reserve", &reserved, &used);
    const bool is_so =
        MYTH_HAS_ASAN || (used > shared && reserved >= used && reserved <= used + BESIDE); /* its own memory is more */
    return myth_selftest_say(t, share == 0 && reserve == 0 && used && used == same && is_so,
                             "exit codes %d and %d; of %" PRIu64 " bytes %" PRIu64 " resident in a shared run, %" PRIu64
                             " in a reserved one",
                             share, reserve, used, shared, reserved);
}

static bool lines_are_streamed(myth_selftest *t)
{
    char path[PATH_MAX], line[1 << 14], last[64] = "";
    uint64_t n = 0, n_bad = 0;
    const int code = myth_selftest_run(t, NULL, RUN " --mem-report ~/lines.jsonl");
    snprintf(path, sizeof(path), "%s/lines.jsonl", t->dir);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof(line), f)) {
        json_t *o = json_loads(line, 0, NULL);
        n_bad += u64_of(o, "schema") != 1;
        snprintf(last, sizeof(last), "%s",
                 json_is_string(json_object_get(o, "event")) ? json_string_value(json_object_get(o, "event")) : "");
        json_decref(o);
        n++;
    }
    if (f)
        fclose(f);
    return myth_selftest_say(t, code == 0 && n >= 3 && !n_bad && strcmp(last, "end") == 0,
                             "exit code %d, %" PRIu64 " lines, the last is \"%s\"", code, n, last);
}

const myth_selftest_check myth_selftest_memory[] = {
    {"--mem-report", "every class uses what was planned, and nothing stays", report_equals_plan},
    {"--mem-report", "FILE.jsonl gets lines while a command runs", lines_are_streamed},
    {"--mem-limit", "a run stays below it, and is refused where it cannot", limit_holds},
    {"--mem-limit", "takes shares of what there is, and no half bytes", limit_takes_shares},
    {"--mem-limit", "@FILE says it", limit_is_read_from_a_file},
    {"--mem-mode", "what reserve takes is resident before the run begins", reserved_is_resident},
    {"--max-memory-gb", "is the limit in GiB", gigabytes_are_a_limit},
    {"--config", "a file says what flags say", file_says_flags},
    {"suggestions", "of a refusal fit", suggestions_fit},
    {"-c", "twice the context has twice the rows of global layers", context_is_rows},
    {"-ctk", "q8_0 keys are smaller", keys_are_smaller},
    {"-ctv", "q8_0 values are smaller", values_are_smaller},
    {"-ub", "smaller steps need less for activations", steps_are_smaller},
    {"-b", "is the upper bound of -ub", batches_bound_steps},
    {"-np", "each sequence has rows of its own", sequences_cost},
    {"--load-mode", "mapped weights are not copied", mapped_is_not_copied},
    {"-ngl", "layers before the last ones take nothing of the device", layers_stay_on_the_host},
    {"--offload", "weights take two layers' room on the device", weights_stay_on_the_host},
    {"--offload", "keys and values take two layers' room on the device", rows_stay_on_the_host},
    {"--offload-layers", "layers behind the first ones stay on the device", some_layers_are_brought},
    {"-ts", "each of several devices has its share", devices_get_shares},
    {"--cpu-moe", "experts take nothing of the device", experts_stay_on_the_host},
    {"--n-cpu-moe", "those of the first layer take nothing of the device", some_experts_stay_there},
    {"--ple", "the table of per-layer embeddings takes nothing of the device", the_table_stays_where_it_is},
    {"--no-kv-offload", "keys and values of global layers take nothing of the device", all_pages_stay_on_the_host},
    {"--n-host-kv", "those of the first global layer take nothing of the device", pages_stay_on_the_host},
    {"--head", "the embedding and the head take nothing of the device", head_stays_on_the_host},
    {"--max-parallel-tokens", "a position has at most as many tokens", positions_have_so_many_tokens},
    {"--batch", "more prompts at a time need more", batches_cost},
    {"--control", "a paused job holds nothing, and goes on to the same bytes", myth_selftest_control},
};
const size_t myth_selftest_n_memory = sizeof(myth_selftest_memory) / sizeof(*myth_selftest_memory);
