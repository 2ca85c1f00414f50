/* caution.c - names the languages of a report's files that the model was not trained on. */
#include "caution.h"

#include "retrieval/retrieval.h"

#include <stdio.h>
#include <string.h>

typedef struct {
    const char *name[MYTH_CAUTION_NAMES];
    uint32_t n_name, n_file;
    bool has_more; /* names that were not kept */
} unknown;

static void add(unknown *u, const char *language)
{
    u->n_file++;
    for (uint32_t i = 0; i < u->n_name; i++)
        if (strcmp(u->name[i], language) == 0)
            return;
    if (u->n_name < MYTH_CAUTION_NAMES)
        u->name[u->n_name++] = language;
    else
        u->has_more = true;
}

void myth_caution(char out[MYTH_CAUTION_CAP], const myth_report *r, myth_str known)
{
    char list[256], names[256] = "";
    unknown u = {0};
    uint32_t n_subject = 0;
    size_t at = 0;
    out[0] = '\0';
    if (known.len >= sizeof(list))
        return;
    memcpy(list, known.text, known.len);
    list[known.len] = '\0';
    for (uint32_t i = 0; i < r->n_file; i++) {
        const myth_source *src = r->file[i].src;
        if (!r->file[i].is_subject)
            continue;
        const char *language = myth_detect_language(src->path, src->bytes, src->len);
        n_subject++;
        if (!myth_language_lists(list, language, strlen(language)))
            add(&u, language);
    }
    for (uint32_t i = 0; i < u.n_name && at < sizeof(names); i++)
        at += (size_t)snprintf(names + at, sizeof(names) - at, "%s%s", i ? ", " : "", u.name[i]);
    if (u.n_file)
        snprintf(out, MYTH_CAUTION_CAP,
                 "%.80s was trained on %.100s alone, and %u of %u file%s %s in another language (%.80s%s): neither "
                 "a finding there nor its absence says much; -m names a model that knows it",
                 r->model, list, u.n_file, n_subject, myth_s(n_subject), u.n_file == 1 ? "is" : "are", names,
                 u.has_more ? ", ..." : "");
}
