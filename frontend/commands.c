/* commands.c - the command table and the flags of every command. */
#include "frontend/cli/help.h"

#define COMMAND(name) extern const myth_command myth_cmd_##name;
#include "commands.def"
#undef COMMAND

const myth_command *const myth_commands[] = {
#define COMMAND(name) &myth_cmd_##name,
#include "commands.def"
#undef COMMAND
    NULL,
};

static const myth_option options[] = {
    {"mem-limit", NULL, MYTH_OPT_TEXT, "SIZE", offsetof(myth_global, mem_limit), "(what is left)", 0, 0,
     "memory that this run may use on each device, or cuda:0=8GiB,host=2GiB; 80% is a share of what the device has (or "
     "the process may have), all-2GiB what is left of it, none no limit, @FILE what a file says, which is read again "
     "when it changes; never more of the host than the machine has left; not counted are mapped weights, which are "
     "page "
     "cache, and what the libraries for git and databases take for themselves (search, index, map: some tens of MB)"},
    {"max-memory-gb", NULL, MYTH_OPT_F32, "N", offsetof(myth_global, max_memory_gb), "(none)", 0.001, 1e6,
     "the same as --mem-limit NGiB"},
    {"mem-mode", NULL, MYTH_OPT_CHOICE, "share|reserve", offsetof(myth_global, mem_mode), "share", 0, 0,
     "share takes pages of the host's memory when they are written and gives back those of tokens that are dropped; "
     "reserve takes all that the plan lists before the run begins, so that nothing lacks later, or refuses"},
    {"mem-report", NULL, MYTH_OPT_OUT, "FILE", offsetof(myth_global, mem_report), NULL, 0, 0,
     "write the planned, peak and live bytes of each memory class as JSON; to FILE.jsonl lines while the command runs"},
    {"control", NULL, MYTH_OPT_TEXT, "SOCKET", offsetof(myth_global, control), NULL, 0, 0,
     "listen on a Unix socket for JSON lines while the command runs: stats, limit, pause, resume, cancel"},
    {"exact", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_global, is_exact), NULL, 0, 0,
     "compute with float32 activations and cache in the reference order, so that every device gives the same result"},
    {"threads", "-t", MYTH_OPT_U32, "N", offsetof(myth_global, n_threads), "(all cores)", 0, 64,
     "number of CPU threads"},
    {"device", "-dev", MYTH_OPT_TEXT, "NAME", offsetof(myth_global, device), "auto", 0, 0,
     "where to compute: auto, cpu, cuda:N, vulkan:N, or several separated by commas"},
    {"quiet", "-q", MYTH_OPT_FLAG, NULL, offsetof(myth_global, is_quiet), NULL, 0, 0, "print no notes and no progress"},
    {"verbose", "-v", MYTH_OPT_FLAG, NULL, offsetof(myth_global, verbose), NULL, 0, 0, "log details of the run"},
    {"log-format", NULL, MYTH_OPT_CHOICE, "text|json", offsetof(myth_global, log_format), "text", 0, 0,
     "format of the messages on standard error"},
    {"config", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_global, config), "(~/.config/mythos/config)", 0, 0,
     "configuration file: lines NAME = VALUE, YAML or a JSON object, with the names of flags; flags and variables "
     "stand above it"},
    {"show-config", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_global, show_config), NULL, 0, 0,
     "print every flag with its value and where the value came from, and exit"},
};

const myth_option_group myth_group_global = MYTH_GROUP("every command", myth_global, options);
