/* edition.c - see edition.h. */
#define _GNU_SOURCE
#include "edition.h"

#include "frontend/cli/environment.h"
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void date_text(char dst[32], int64_t seconds)
{
    const time_t t = (time_t)seconds;
    struct tm tm;
    dst[0] = '\0';
    if (gmtime_r(&t, &tm))
        strftime(dst, 32, "%Y-%m-%d %H:%M UTC", &tm);
}

/* Now, or what SOURCE_DATE_EPOCH says, so that the same run gives the same page (reproducible-builds.org). */
static int64_t day_of_page(void)
{
    const char *text = myth_env_get("SOURCE_DATE_EPOCH");
    char *end = NULL;
    const long long s = text ? strtoll(text, &end, 10) : -1;
    return text && *text && !*end && s >= 0 ? (int64_t)s : (int64_t)time(NULL);
}

void myth_edition_public(char dst[MYTH_EDITION_ORIGIN], const char *url)
{
    const char *scheme = strstr(url, "://"), *host = scheme ? scheme + 3 : url;
    const size_t n_head = strcspn(host, scheme ? "/?#" : ":"), n_scheme = scheme ? (size_t)(scheme - url) : 0;
    const char *at = memrchr(host, '@', n_head), *from = at ? at + 1 : host, *rest = host + n_head;
    dst[0] = '\0';
    if (scheme ? !strncmp(url, "file", 4) : (*rest != ':' || memchr(host, '/', n_head))) /* a folder */
        return;
    const int n = snprintf(dst, MYTH_EDITION_ORIGIN, "%.*s://%.*s%s%.*s", scheme ? (int)n_scheme : 3,
                           scheme ? url : "ssh", (int)(rest - from), from, scheme || rest[1] == '/' ? "" : "/",
                           (int)strcspn(rest + !scheme, "?#"), rest + !scheme);
    bool is_plain = from < rest && n < MYTH_EDITION_ORIGIN;
    for (const char *p = dst; *p; p++)
        is_plain &= (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                    strchr("-._~/:%+[]@", *p);
    if (!is_plain)
        dst[0] = '\0';
}

bool myth_edition_is_shown(myth_form form, const myth_opt_list *outputs)
{
    static const myth_form shows[] = {MYTH_FORM_JSON, MYTH_FORM_JSONL, MYTH_FORM_SARIF, MYTH_FORM_HTML};
    bool is = false;
    for (size_t i = 0; i < sizeof(shows) / sizeof(shows[0]); i++)
        is |= form == shows[i] || myth_outputs_have(outputs, shows[i]);
    return is;
}

void myth_edition_source(char dst[MYTH_EDITION_SOURCE], myth_form form, const myth_opt_list *outputs,
                         const myth_revision_opts *side)
{
    myth_report r = {0};
    myth_edition e = {0};
    if (myth_edition_is_shown(form, outputs))
        myth_edition_find(&e, &r, side);
    snprintf(dst, MYTH_EDITION_SOURCE, "%s\n%s", e.commit, e.origin);
}

void myth_edition_find(myth_edition *e, myth_report *r, const myth_revision_opts *side)
{
    myth_revision *rev = NULL;
    myth_mem *mem; /* of its own: the run's plan is about the model */
    int64_t commit_s = 0;
    date_text(e->made, day_of_page());
    r->made = e->made;
    if (!side || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return;
    const bool is_open = myth_revision_open(&rev, mem, side, NULL) == MYTH_OK;
    if (is_open && myth_revision_commit(rev, e->commit, &commit_s)) {
        date_text(e->commit_date, commit_s);
        r->commit = e->commit;
        r->commit_date = e->commit_date;
    }
    char url[MYTH_EDITION_ORIGIN];
    if (is_open && myth_revision_origin(rev, url, sizeof(url)))
        myth_edition_public(e->origin, url);
    r->origin = e->origin[0] ? e->origin : NULL;
    myth_revision_close(rev);
    myth_mem_close(mem);
}
