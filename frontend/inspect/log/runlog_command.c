/* runlog_command.c - the record of what ran: the command line, the program, the model and the other files that were
 * read. */
#include "runlog_record.h"
#include "version.h"
#include "engine/base/program.h"

#include <dirent.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- command line ---- */

/* Whether a flag only decides which files are written and what is printed. It does not change the report, and a replay
 * leaves it out, because it must not write those files again. */
static bool is_output_only(const char *name)
{
    static const char *const list[] = {"output",      "patch",       "update-baseline", "mem-report",  "quiet",
                                       "verbose",     "log-format",  "show-config",     "log",         "no-log",
                                       "log-prompts", "cache-limit", "log-keep",        "log-max-size"};
    for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

static json_t *option_value(const myth_opt_slot *s)
{
    char value[256];
    if (s->opt->kind == MYTH_OPT_LIST) {
        const myth_opt_list *list = s->field;
        json_t *j = json_array();
        for (int i = 0; i < list->n; i++)
            json_array_append_new(j, myth_record_exact(list->item[i]));
        return j;
    }
    if (myth_args_is_text(s->opt))
        return *(const char **)s->field ? myth_record_exact(*(const char **)s->field) : json_null();
    if (s->opt->kind == MYTH_OPT_FLAG)
        return json_boolean(*(bool *)s->field);
    if (s->source != MYTH_FROM_DEFAULT && s->text)
        return myth_record_exact(s->text); /* as it was given: a parsed number may be printed with fewer digits */
    if (s->opt->kind == MYTH_OPT_SIZE)     /* its text is for people, and rounded */
        return myth_record_exact(s->opt->def);
    myth_args_text(s, value, sizeof(value));
    return myth_record_exact(value);
}

static void put_options(myth_runlog *log)
{
    json_t *options = myth_record_section(log, "options", true);
    for (int i = 0; myth_record_is_on(log) && i < log->cli->parsed->n_slot; i++) {
        const myth_opt_slot *s = &log->cli->parsed->slot[i];
        /* A default in parentheses, such as "(all cores)", describes what the command does without a value. It is
         * recorded as null, and a replay leaves the flag out too. */
        bool is_unset =
            s->source == MYTH_FROM_DEFAULT && (!s->opt->def || s->opt->def[0] == '(') && s->opt->kind != MYTH_OPT_FLAG;
        json_t *o = json_pack("{s:s, s:s, s:o}", "name", s->opt->name, "from", myth_opt_source_name[s->source], "value",
                              is_unset ? json_null() : option_value(s));
        if (o && is_output_only(s->opt->name))
            json_object_set_new(o, "repeated", json_false());
        myth_record_append(log, options, o);
        if (strcmp(s->opt->name, "update-baseline") == 0 && *(bool *)s->field)
            myth_record_set(log, log->doc, "updated_baseline", json_true());
    }
}

void myth_record_command(myth_runlog *log)
{
    char cwd[PATH_MAX];
    json_t *args = NULL;
    myth_record_set_text(log, log->doc, "command", log->cli->command->name);
    args = myth_record_section(log, "args", true);
    for (int i = 0; myth_record_is_on(log) && i < log->cli->n_arg; i++)
        myth_record_append(log, args, myth_record_exact(log->cli->arg[i]));
    myth_record_set(log, log->doc, "cwd", getcwd(cwd, sizeof(cwd)) ? myth_record_exact(cwd) : json_null());
    if (myth_record_is_on(log))
        put_options(log);
}

/* ---- what runs ---- */

/* A file's path, size, time, inode and hash; when it cannot be read, its path and the error. */
static json_t *file_identity(myth_runlog *log, const char *path)
{
    myth_runlog_hash h;
    myth_error err = {0};
    if (myth_runlog_hash_file(&h, path, log->file, &err) != MYTH_OK)
        return json_pack("{s:o, s:s}", "path", myth_record_exact(path), "error", err.msg);
    return json_pack("{s:o, s:I, s:I, s:I, s:s}", "path", myth_record_exact(path), "bytes", (json_int_t)h.bytes,
                     "mtime_ns", (json_int_t)h.mtime_ns, "inode", (json_int_t)h.inode, "hash", h.hash);
}

void myth_record_binary(myth_runlog *log)
{
    char path[PATH_MAX];
    json_t *b = myth_program_path(path, sizeof(path)) ? file_identity(log, path) : json_object();
    if (b) {
        json_object_set_new(b, "version", json_string(MYTHOS_VERSION));
        json_object_set_new(b, "commit", json_string(MYTHOS_COMMIT));
    }
    myth_record_set(log, log->doc, "binary", b);
    myth_record_set_text(log, log->doc, "weights", MYTHOS_WEIGHTS_HASH);
}

/* ---- files that were read ---- */

void myth_runlog_input(myth_runlog *log, const char *role, const char *path)
{
    json_t *inputs = myth_record_is_on(log) && path ? myth_record_section(log, "inputs", true) : NULL;
    if (!inputs)
        return;
    json_t *j = file_identity(log, path);
    if (j)
        json_object_set_new(j, "role", json_string(role));
    myth_record_append(log, inputs, j);
}

/* Adds the files of a model that is a folder, by name: weights, configuration, tokenizer. */
static void put_folder(myth_runlog *log, json_t *files, const char *dir)
{
    static const char *const suffix[] = {".safetensors", ".json", ".gguf", ".model"};
    struct dirent **entry = NULL;
    int n = scandir(dir, &entry, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        char path[PATH_MAX];
        const char *name = entry[i]->d_name;
        bool wanted = false;
        for (size_t k = 0; k < sizeof(suffix) / sizeof(suffix[0]); k++)
            wanted = wanted || (strlen(name) > strlen(suffix[k]) &&
                                strcmp(name + strlen(name) - strlen(suffix[k]), suffix[k]) == 0);
        if (wanted && snprintf(path, sizeof(path), "%s/%s", dir, name) < (int)sizeof(path))
            myth_record_append(log, files, file_identity(log, path));
        free(entry[i]);
    }
    free(entry);
}

void myth_runlog_model(myth_runlog *log, const myth_model *m, const char *spec)
{
    struct stat info;
    if (!myth_record_is_on(log))
        return;
    const char *path = myth_weights_path(m->weights);
    json_t *files = json_array();
    json_t *j = json_pack("{s:o, s:o, s:O}", "spec", myth_record_exact(spec), "name",
                          myth_record_text(log, myth_model_name(m)), "files", files);
    if (j && myth_weights_get_format(m->weights) != MYTH_FORMAT_RANDOM && path && stat(path, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            put_folder(log, files, path);
        else
            myth_record_append(log, files, file_identity(log, path));
        for (uint32_t i = 1; !S_ISDIR(info.st_mode) && i < myth_weights_n_file(m->weights); i++)
            myth_record_append(log, files, file_identity(log, myth_weights_file(m->weights, i)));
    }
    for (uint32_t i = 0; i < m->n_lora; i++)
        myth_record_append(log, files, file_identity(log, myth_model_lora_path(m, i)));
    json_decref(files);
    myth_record_set(log, log->doc, "model", j);
}

void myth_runlog_input_bytes(myth_runlog *log, const char *role, const void *data, size_t n)
{
    char hash[72];
    json_t *inputs = myth_record_is_on(log) ? myth_record_section(log, "inputs", true) : NULL;
    if (!inputs)
        return;
    myth_runlog_hash_bytes(hash, data, n);
    myth_record_append(log, inputs, json_pack("{s:s, s:I, s:s}", "role", role, "bytes", (json_int_t)n, "hash", hash));
}
