/* cmd_languages.c - lists the languages of the retriever: the names of their files, and whether it reads their
 * definitions. */
#include "frontend/cli/cli.h"
#include "frontend/cli/json_out.h"
#include "retrieval/retrieval.h"

#include <string.h>

typedef struct {
    bool json;
} languages_opts;

static const myth_option languages_options[] = {
    {"json", NULL, MYTH_OPT_FLAG, NULL, offsetof(languages_opts, json), NULL, 0, 0,
     "print [{\"name\",\"grammar\",\"patterns\",\"programs\"}]"},
};
static const myth_option_group languages_groups[] = {MYTH_GROUP("languages", languages_opts, languages_options)};

/* Writes an array of the words of a text, which blanks separate; NULL has none. */
static void json_words(myth_json_out *j, const char *key, const char *text)
{
    myth_jout_key(j, key);
    myth_jout_array(j);
    for (const char *p = text ? text : ""; *p;) {
        const size_t n = strcspn(p, " ");
        myth_jout_text_begin(j);
        myth_jout_text_part(j, p, n);
        myth_jout_text_end(j);
        p += n + (p[n] == ' ');
    }
    myth_jout_end(j);
}

/* A row may name a grammar that this build lacks; the files are then cut by their text, as those without a grammar. */
static void print_json(void)
{
    const myth_language *l;
    myth_json_out j;
    myth_jout_start(&j, stdout);
    myth_jout_array(&j);
    for (uint32_t i = 0; (l = myth_language_at(i)); i++) {
        const bool has_grammar = myth_chunk_has_grammar(l->name);
        myth_jout_object(&j);
        myth_jout_key_str(&j, "name", l->name);
        myth_jout_key_str(&j, "grammar", has_grammar ? l->grammar : NULL);
        json_words(&j, "patterns", l->patterns);
        json_words(&j, "programs", l->programs);
        myth_jout_end(&j);
    }
    myth_jout_end(&j);
}

static void print_text(void)
{
    const myth_language *l;
    for (uint32_t i = 0; (l = myth_language_at(i)); i++)
        printf("%-12s %-12s %s\n", l->name, myth_chunk_has_grammar(l->name) ? "definitions" : "text", l->patterns);
}

static int run_languages(myth_cli *cli, const void *opts)
{
    const languages_opts *o = opts;
    (void)cli;
    if (o->json)
        print_json();
    else
        print_text();
    return MYTH_EXIT_CLEAN;
}

const myth_command myth_cmd_languages = {
    .name = "languages",
    .args = "",
    .help = "list the languages that files can have, with the names of their files",
    .detail =
        "One line each: the name, which search --type takes; how files are read; the suffixes and whole names of "
        "files. \"definitions\": a grammar finds definitions and their uses. \"text\": there is no grammar (null "
        "in JSON), and a file is cut by its text. A file that no pattern matches is known by its first bytes, for "
        "example by the program of its \"#!\" line.",
    .group = languages_groups,
    .n_group = 1,
    .opts_bytes = sizeof(languages_opts),
    .run = run_languages,
};
