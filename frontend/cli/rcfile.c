/* rcfile.c - finds and reads the configuration file; rcfile.h has its form. */
#include "rcfile.h"

#include "environment.h"
#include "help.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char text[MYTH_RCFILE_BYTES + 1];

/* Writes the path of the configuration file; false: none is to be read. *is_wanted: it must exist. */
static bool find_file(char path[PATH_MAX], bool *is_wanted)
{
    const char *given = myth_env_get("MYTHOS_CONFIG"), *config = myth_env_get("XDG_CONFIG_HOME"),
               *home = myth_env_get("HOME");
    int n = 0;
    *is_wanted = given != NULL;
    if (given)
        n = snprintf(path, PATH_MAX, "%s", given);
    else if (config && config[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/mythos/config", config);
    else if (home && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.config/mythos/config", home);
    return n > 0 && n < PATH_MAX;
}

static bool has_option(const myth_option_group *g, size_t n_group, const char *name)
{
    for (size_t i = 0; i < n_group; i++)
        for (size_t k = 0; k < g[i].n_opt; k++)
            if (strcmp(g[i].opt[k].name, name) == 0)
                return true;
    return false;
}

static const myth_command *find_command(const char *name)
{
    for (int i = 0; myth_commands[i]; i++)
        if (strcmp(myth_commands[i]->name, name) == 0)
            return myth_commands[i];
    return NULL;
}

/* Whether the section's command has this flag, or any command when no section has begun. */
static bool is_known(const myth_command *section, const char *name)
{
    bool found = has_option(&myth_group_global, 1, name);
    for (int i = 0; !found && myth_commands[i]; i++)
        if (!section || section == myth_commands[i])
            found = has_option(myth_commands[i]->group, myth_commands[i]->n_group, name);
    return found;
}

static myth_status unknown(const char *where, const myth_command *section, const char *name, myth_error *err)
{
    const char *list[512];
    size_t n = 0;
    for (int i = 0; myth_commands[i]; i++)
        for (size_t g = 0; (!section || section == myth_commands[i]) && g < myth_commands[i]->n_group; g++)
            for (size_t k = 0; k < myth_commands[i]->group[g].n_opt && n < sizeof(list) / sizeof(list[0]); k++)
                list[n++] = myth_commands[i]->group[g].opt[k].name;
    for (size_t k = 0; k < myth_group_global.n_opt && n < sizeof(list) / sizeof(list[0]); k++)
        list[n++] = myth_group_global.opt[k].name;
    const char *near = myth_args_nearest(name, list, n);
    if (near)
        return myth_fail(err, MYTH_EFORMAT, "%s: unknown flag '%.60s'; did you mean %s?", where, name, near);
    return myth_fail(err, MYTH_EFORMAT, "%s: unknown flag '%.60s'; mythos %s --help lists the flags", where, name,
                     section ? section->name : "COMMAND");
}

static char *trimmed(char *s)
{
    s += strspn(s, " \t\r");
    size_t n = strlen(s);
    while (n && strchr(" \t\r", s[n - 1]))
        s[--n] = '\0';
    return s;
}

static myth_status read_line(myth_parsed *p, const myth_command *c, const myth_command **section, const char *where,
                             char *line, myth_error *err)
{
    size_t n = strlen(line = trimmed(line));
    if (!n || *line == '#')
        return MYTH_OK;
    if (*line == '[') {
        if (line[n - 1] != ']')
            return myth_fail(err, MYTH_EFORMAT, "%s: a section is written [COMMAND]; the closing bracket is missing",
                             where);
        line[n - 1] = '\0';
        *section = find_command(trimmed(line + 1));
        return *section ? MYTH_OK
                        : myth_fail(err, MYTH_EFORMAT, "%s: unknown command '%.60s'; mythos --help lists the commands",
                                    where, trimmed(line + 1));
    }
    char *equal = strchr(line, '=');
    if (!equal)
        return myth_fail(err, MYTH_EFORMAT, "%s: got '%.60s', expected name = value", where, line);
    *equal = '\0';
    const char *name = trimmed(line);
    char *value = trimmed(equal + 1);
    size_t n_value = strlen(value);
    if (n_value >= 2 && value[0] == '"' && value[n_value - 1] == '"') {
        value[n_value - 1] = '\0';
        value++;
    } else if (!n_value) {
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s has no value", where, name);
    }
    if (!is_known(*section, name))
        return unknown(where, *section, name, err);
    if ((*section && *section != c) || !myth_args_find(p, name))
        return MYTH_OK; /* the setting is for another command */
    return myth_args_set(p, name, value, where, err);
}

static myth_status read_text(myth_parsed *p, const myth_command *c, const char *path, size_t n, myth_error *err)
{
    const myth_command *section = NULL;
    char where[160];
    uint32_t number = 1;
    if (strlen(text) != n)
        return myth_fail(err, MYTH_EFORMAT, "%.160s: the file has a zero byte; a configuration file is text", path);
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        snprintf(where, sizeof(where), "%.140s:%u", path, number);
        myth_status st = read_line(p, c, &section, where, line, err);
        if (st != MYTH_OK)
            return st;
    }
    return MYTH_OK;
}

myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, myth_error *err)
{
    char path[PATH_MAX];
    bool is_wanted;
    if (!find_file(path, &is_wanted))
        return MYTH_OK;
    FILE *f = fopen(path, "rb");
    if (!f && !is_wanted && (errno == ENOENT || errno == ENOTDIR))
        return MYTH_OK;
    if (!f)
        return myth_fail(err, MYTH_ENOTFOUND,
                         "%.160s: %s; MYTHOS_CONFIG must name a configuration file, or be empty for none", path,
                         strerror(errno));
    size_t n = fread(text, 1, sizeof(text), f);
    bool is_bad = ferror(f) != 0;
    fclose(f);
    if (is_bad)
        return myth_fail(err, MYTH_EIO, "%.160s: cannot read: %s", path, strerror(errno));
    if (n > MYTH_RCFILE_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.160s: more than %d bytes of configuration", path, (int)MYTH_RCFILE_BYTES);
    text[n] = '\0';
    return read_text(p, c, path, n, err);
}
