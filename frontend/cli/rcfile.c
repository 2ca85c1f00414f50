/* rcfile.c - finds and reads the configuration file; rcfile.h has its form. */
#include "rcfile.h"

#include "environment.h"
#include "help.h"
#include "engine/base/json.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

static char text[MYTH_RCFILE_BYTES + 1];
static char pool[MYTH_RCFILE_BYTES + 1]; /* keys and values of a JSON file: each has a byte more there than here */

/* Writes the path of the configuration file; false: none is to be read. *is_wanted: it must exist. */
static bool find_file(char path[PATH_MAX], const char *given, bool *is_wanted)
{
    const char *config = myth_env_get("XDG_CONFIG_HOME"), *home = myth_env_get("HOME");
    int n = 0;
    given = given ? given : myth_env_get("MYTHOS_CONFIG");
    *is_wanted = given != NULL;
    if (given)
        n = snprintf(path, PATH_MAX, "%s", given);
    else if (config && config[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/mythos/config", config);
    else if (home && home[0] == '/')
        n = snprintf(path, PATH_MAX, "%s/.config/mythos/config", home);
    return n > 0 && n < PATH_MAX;
}

/* The option with this name, or another spelling of it. */
static const myth_option *option_of(const myth_option_group *g, size_t n_group, const char *name)
{
    char word[80];
    const int n = snprintf(word, sizeof(word), "--%s", name);
    for (size_t i = 0; i < n_group && n < (int)sizeof(word); i++)
        for (size_t k = 0; k < g[i].n_opt; k++)
            if (myth_args_spells(&g[i].opt[k], word, (size_t)n))
                return &g[i].opt[k];
    return NULL;
}

static const myth_command *find_command(const char *name)
{
    for (int i = 0; myth_commands[i]; i++)
        if (strcmp(myth_commands[i]->name, name) == 0)
            return myth_commands[i];
    return NULL;
}

/* The flag of the section's command, or of any command, c before others, when no section has begun. */
static const myth_option *find_option(const myth_command *section, const myth_command *c, const char *name)
{
    const myth_option *found = option_of(&myth_group_global, 1, name);
    if (!found && (!section || section == c))
        found = option_of(c->group, c->n_group, name);
    for (int i = 0; !found && myth_commands[i]; i++)
        if (!section || section == myth_commands[i])
            found = option_of(myth_commands[i]->group, myth_commands[i]->n_group, name);
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

/* Sets one option. name is rewritten. */
static myth_status set(myth_parsed *p, const myth_command *c, const myth_command *section, const char *where,
                       char *name, const char *value, myth_error *err)
{
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    const myth_option *o = find_option(section, c, name);
    if (!o)
        return unknown(where, section, name, err);
    if (strcmp(o->name, "config") == 0)
        return myth_fail(err, MYTH_EFORMAT, "%s: a configuration file names no other; leave config out", where);
    if ((section && section != c) || !myth_args_find(p, o->name))
        return MYTH_OK; /* the setting is for another command */
    return myth_args_set(p, o->name, value, where, err);
}

/* ---- lines ---- */

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
    char *name = trimmed(line);
    char *value = trimmed(equal + 1);
    size_t n_value = strlen(value);
    if (n_value >= 2 && value[0] == '"' && value[n_value - 1] == '"') {
        value[n_value - 1] = '\0';
        value++;
    } else if (!n_value) {
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s has no value", where, name);
    }
    return set(p, c, *section, where, name, value, err);
}

static myth_status read_text(myth_parsed *p, const myth_command *c, const char *path, myth_error *err)
{
    const myth_command *section = NULL;
    char where[160];
    uint32_t number = 1;
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

/* ---- JSON ---- */

enum { KEYS = 512 };

typedef struct {
    myth_parsed *p;
    const myth_command *c, *section;
    const char *path;
    myth_json j;
    size_t n_pool, n_key;
    char where[160];
    struct {
        const myth_command *section;
        const char *name;
    } key[KEYS];
} json_file;

/* Writes "path:line" of a place in the text to f->where. */
static const char *place(json_file *f, uint64_t off)
{
    uint32_t line = 1;
    for (uint64_t i = 0; i < off; i++)
        line += text[i] == '\n';
    snprintf(f->where, sizeof(f->where), "%.140s:%u", f->path, line);
    return f->where;
}

static myth_status next(json_file *f, myth_json_token *t, myth_error *err)
{
    myth_error bad = {0};
    if (myth_json_next(&f->j, t, &bad) == MYTH_OK)
        return MYTH_OK;
    static const char sign[] = ": offset "; /* "path: offset N: what" */
    const char *at = strstr(bad.msg, sign), *what = at ? strstr(at + sizeof(sign) - 1, ": ") : NULL;
    const uint64_t off = at ? strtoull(at + sizeof(sign) - 1, NULL, 10) : f->j.pos;
    return myth_fail(err, MYTH_EFORMAT, "%s: this is not JSON%.120s", place(f, off < f->j.size ? off : f->j.size),
                     what ? what : "");
}

/* The text of a key or a value; NULL: it has a zero byte. */
static char *text_of(json_file *f, const myth_json_token *t)
{
    char *at = pool + f->n_pool;
    size_t n = t->len;
    if (t->type == MYTH_JSON_KEY || t->type == MYTH_JSON_STRING)
        n = myth_json_text(at, t);
    else if (t->type == MYTH_JSON_NUMBER)
        memcpy(at, t->span, n);
    else
        n = (size_t)sprintf(at, "%s", t->type == MYTH_JSON_TRUE ? "true" : "false");
    at[n] = '\0';
    f->n_pool += n + 1;
    return strlen(at) == n ? at : NULL;
}

static myth_status set_token(json_file *f, char *name, const myth_json_token *t, myth_error *err)
{
    const char *where = place(f, t->off);
    const bool is_text = t->type == MYTH_JSON_STRING || t->type == MYTH_JSON_NUMBER || t->type == MYTH_JSON_TRUE ||
                         t->type == MYTH_JSON_FALSE;
    if (!is_text)
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s has no value; give a text, a number, true or false", where,
                         name);
    const char *value = text_of(f, t);
    return value ? set(f->p, f->c, f->section, where, name, value, err)
                 : myth_fail(err, MYTH_EFORMAT, "%s: %.60s has a zero byte", where, name);
}

/* The value of a key: what is set, or the beginning of a command's object. */
static myth_status read_value(json_file *f, char *name, myth_error *err)
{
    myth_status st = MYTH_OK;
    myth_json_token t;
    MYTH_TRY(next(f, &t, err));
    if (t.type == MYTH_JSON_OBJECT) {
        for (char *at = name; *at; at++)
            *at = *at == '_' ? '-' : *at;
        if (f->section)
            return myth_fail(err, MYTH_EFORMAT, "%s: %.60s: an object in that of a command", place(f, t.off), name);
        f->section = find_command(name);
        return f->section
                 ? MYTH_OK
                 : myth_fail(err, MYTH_EFORMAT, "%s: unknown command '%.60s'; mythos --help lists the commands",
                             place(f, t.off), name);
    }
    if (t.type != MYTH_JSON_ARRAY)
        return set_token(f, name, &t, err);
    for (char *at = name; *at; at++)
        *at = *at == '_' ? '-' : *at;
    const myth_option *o = find_option(f->section, f->c, name);
    if (o && o->kind != MYTH_OPT_LIST)
        return myth_fail(err, MYTH_EFORMAT, "%s: %.60s takes one value, not a list", place(f, t.off), name);
    for (;;) {
        MYTH_TRY(next(f, &t, err));
        if (t.type == MYTH_JSON_ARRAY_END)
            return MYTH_OK;
        MYTH_TRY(set_token(f, name, &t, err));
    }
fail:
    return st;
}

static myth_status read_key(json_file *f, const myth_json_token *t, myth_error *err)
{
    char *name = text_of(f, t);
    if (!name || f->n_key == KEYS)
        return myth_fail(err, MYTH_EFORMAT, "%s: %s", place(f, t->off),
                         name ? "too many keys" : "a key with a zero byte");
    for (size_t i = 0; i < f->n_key; i++)
        if (f->key[i].section == f->section && strcmp(f->key[i].name, name) == 0)
            return myth_fail(err, MYTH_EFORMAT, "%s: %.60s is there twice; a list is written [a, b]", place(f, t->off),
                             name);
    f->key[f->n_key].section = f->section;
    f->key[f->n_key++].name = name;
    return read_value(f, name, err);
}

static myth_status read_json(myth_parsed *p, const myth_command *c, const char *path, size_t n, myth_error *err)
{
    static json_file f;
    myth_status st = MYTH_OK;
    myth_json_token t;
    f = (json_file){.p = p, .c = c, .path = path};
    myth_json_start(&f.j, text, n, path);
    MYTH_TRY(next(&f, &t, err)); /* the object that the file begins with */
    for (;;) {
        MYTH_TRY(next(&f, &t, err));
        if (t.type == MYTH_JSON_KEY)
            MYTH_TRY(read_key(&f, &t, err));
        else if (t.type == MYTH_JSON_END)
            return MYTH_OK;
        else
            f.section = NULL; /* the end of a command's object, or of all */
    }
fail:
    return st;
}

myth_status myth_rcfile_read(myth_parsed *p, const myth_command *c, const char *given, myth_error *err)
{
    char path[PATH_MAX];
    bool is_wanted;
    if (!find_file(path, given, &is_wanted))
        return MYTH_OK;
    FILE *f = fopen(path, "rb");
    if (!f && !is_wanted && (errno == ENOENT || errno == ENOTDIR))
        return MYTH_OK;
    if (!f)
        return myth_fail(err, MYTH_ENOTFOUND,
                         "%.160s: %s; --config or MYTHOS_CONFIG must name a configuration file; empty, MYTHOS_CONFIG "
                         "is none",
                         path, strerror(errno));
    size_t n = fread(text, 1, sizeof(text), f);
    bool is_bad = ferror(f) != 0;
    fclose(f);
    if (is_bad)
        return myth_fail(err, MYTH_EIO, "%.160s: cannot read: %s", path, strerror(errno));
    if (n > MYTH_RCFILE_BYTES)
        return myth_fail(err, MYTH_ELIMIT, "%.160s: more than %d bytes of configuration", path, (int)MYTH_RCFILE_BYTES);
    text[n] = '\0';
    if (strlen(text) != n)
        return myth_fail(err, MYTH_EFORMAT, "%.160s: the file has a zero byte; a configuration file is text", path);
    return text[strspn(text, " \t\r\n")] == '{' ? read_json(p, c, path, n, err) : read_text(p, c, path, err);
}
