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
    {"mem-limit", NULL, MYTH_OPT_TEXT, "SIZE", offsetof(myth_global, mem_limit), "(none; of a GPU what is free)", 0, 0,
     "bytes this run may take, of every device, or cuda:0=8GiB,host=2GiB; mapped weights are page cache and do not "
     "count"},
    {"mem-report", NULL, MYTH_OPT_TEXT, "FILE", offsetof(myth_global, mem_report), NULL, 0, 0,
     "write planned, peak and live bytes of every class as JSON"},
    {"exact", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_global, is_exact), NULL, 0, 0,
     "float32 activations and cache, reference order: the same on every device"},
    {"threads", "-t", MYTH_OPT_U32, "N", offsetof(myth_global, n_threads), "(all cores)", 0, 64,
     "threads of the CPU device"},
    {"device", "-dev", MYTH_OPT_TEXT, "NAME", offsetof(myth_global, device), "auto", 0, 0,
     "where to compute: auto, cpu, cuda:N, vulkan:N, or several behind commas"},
    {"quiet", "-q", MYTH_OPT_FLAG, NULL, offsetof(myth_global, is_quiet), NULL, 0, 0, "no notes, no progress"},
    {"verbose", "-v", MYTH_OPT_FLAG, NULL, offsetof(myth_global, verbose), NULL, 0, 0, "log more"},
    {"log-format", NULL, MYTH_OPT_CHOICE, "text|json", offsetof(myth_global, log_format), "text", 0, 0,
     "of messages on standard error"},
    {"show-config", NULL, MYTH_OPT_FLAG, NULL, offsetof(myth_global, show_config), NULL, 0, 0,
     "print every flag, its value and where it came from"},
};

const myth_option_group myth_group_global = MYTH_GROUP("every command", myth_global, options);
