/* cmd_docs.c - the commands man, completion and version. */
#include "engine/run/devices.h"
#include "frontend/cli/help.h"
#include "frontend/cli/hints.h"
#include "frontend/cli/json_out.h"
#include "frontend/inspect/report/outputs.h"
#include "version.h"

#include <string.h>

static int run_man(myth_cli *cli, const void *opts)
{
    (void)opts;
    const myth_command *only = NULL;
    for (int i = 0; cli->n_arg && myth_commands[i]; i++)
        if (strcmp(myth_commands[i]->name, cli->arg[0]) == 0)
            only = myth_commands[i];
    if (cli->n_arg && !only) {
        const char *near = myth_hint_command_like(cli->arg[0]);
        return near
                 ? myth_cli_failf(cli, MYTH_EARG, "man: unknown command '%.60s'; did you mean %s?", cli->arg[0], near)
                 : myth_cli_failf(cli, MYTH_EARG, "man: unknown command '%.60s'; mythos --help lists the commands",
                                  cli->arg[0]);
    }
    myth_help_man(stdout, only);
    return MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_man = {
    .name = "man",
    .args = "[COMMAND]",
    .help = "print the manual page of mythos or of a command (roff)",
    .max_arg = 1,
    .run = run_man,
};

/* The values of flags that are words without being a choice of one. */
#define FIRST_FORM(ID, name, has_summary)              #name "="
#define NEXT_FORM(ID, name, has_summary)               "|" #name "="
#define RULE(id, cwe, severity, title, help)           id "|"
#define CHANGE_RULE(id, cwe, severity, title, help)    RULE(id, cwe, severity, title, help)
#define CANDIDATE_RULE(id, cwe, severity, title, help) RULE(id, cwe, severity, title, help)
static const myth_value_words values[] = {
    {"FORM=PATH", MYTH_FORM_ROWS(FIRST_FORM, NEXT_FORM)},
    {
        "ID,ID",
#include "frontend/inspect/rules/rules.def"
    },
    {NULL, NULL},
};
#undef CANDIDATE_RULE
#undef CHANGE_RULE
#undef RULE

static int run_completion(myth_cli *cli, const void *opts)
{
    static const struct {
        const char *name;
        void (*print)(FILE *f, const myth_value_words *values);
    } shell[] = {
        {"bash", myth_help_completion_bash}, {"zsh", myth_help_completion_zsh}, {"fish", myth_help_completion_fish}};
    (void)opts;
    for (size_t i = 0; i < sizeof(shell) / sizeof(shell[0]); i++)
        if (strcmp(cli->arg[0], shell[i].name) == 0) {
            shell[i].print(stdout, values);
            return MYTH_EXIT_CLEAN;
        }
    return myth_cli_failf(cli, MYTH_EARG, "completion: got '%s', expected bash, zsh or fish", cli->arg[0]);
}

const myth_command myth_cmd_completion = {
    .name = "completion",
    .args = "bash|zsh|fish",
    .help = "print the completion script of a shell",
    .min_arg = 1,
    .max_arg = 1,
    .run = run_completion,
};

typedef struct {
    bool json;
} version_opts;

static const myth_option version_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(version_opts, json), NULL, 0, 0, "as JSON"},
};
static const myth_option_group version_groups[] = {MYTH_GROUP("version", version_opts, version_options)};

static int run_version(myth_cli *cli, const void *opts)
{
    (void)cli;
    const version_opts *o = opts;
    if (!o->json) {
        printf("mythos %s (%s), devices:", MYTHOS_VERSION, MYTHOS_COMMIT);
        for (uint32_t i = 0; myth_devices_kind(i); i++)
            printf(" %s", myth_devices_kind(i));
        printf(", compiler %s\n", __VERSION__);
        return MYTH_EXIT_CLEAN;
    }
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_object(&j);
    myth_jout_key_str(&j, "version", MYTHOS_VERSION);
    myth_jout_key_str(&j, "commit", MYTHOS_COMMIT);
    myth_jout_key_str(&j, "compiler", __VERSION__);
    myth_jout_key(&j, "devices");
    myth_jout_array(&j);
    for (uint32_t i = 0; myth_devices_kind(i); i++)
        myth_jout_str(&j, myth_devices_kind(i));
    myth_jout_end(&j);
    myth_jout_end(&j);
    return MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_version = {
    .name = "version",
    .args = "",
    .help = "print version, commit and devices",
    .group = version_groups,
    .n_group = 1,
    .opts_bytes = sizeof(version_opts),
    .run = run_version,
};
