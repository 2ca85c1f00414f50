/* edition.c - see edition.h. */
#include "edition.h"

#include "frontend/cli/environment.h"
#include "outputs.h"

#include <stdlib.h>
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

void myth_edition_find(myth_edition *e, myth_report *r, const myth_revision_opts *side)
{
    myth_revision *rev = NULL;
    myth_mem *mem; /* of its own: the run's plan is about the model */
    int64_t commit_s = 0;
    date_text(e->made, day_of_page());
    r->made = e->made;
    if (!side || myth_mem_open(&mem, 0, NULL) != MYTH_OK)
        return;
    if (myth_revision_open(&rev, mem, side, NULL) == MYTH_OK && myth_revision_commit(rev, e->commit, &commit_s)) {
        date_text(e->commit_date, commit_s);
        r->commit = e->commit;
        r->commit_date = e->commit_date;
    }
    myth_revision_close(rev);
    myth_mem_close(mem);
}
