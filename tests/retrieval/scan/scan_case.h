/* scan_case.h - the scan of a fixture tree under a ledger of its own, and what has to be in and out. */
#ifndef MYTH_TESTS_SCAN_CASE_H
#define MYTH_TESTS_SCAN_CASE_H

#include "retrieval/scan/scan.h"
#include "tests/support/files.h"

static myth_mem *mem;

static inline int open_mem(void **state)
{
    (void)state;
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK ? 0 : -1;
}

static inline int close_mem(void **state)
{
    (void)state;
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

static inline void text(const char *path, const char *s) { files_put_deep(path, s, strlen(s)); }

static inline void scan(myth_scan_list *l, const char *root, const myth_scan_opts *opts)
{
    myth_scan_opts o = opts ? *opts : (myth_scan_opts){0};
    myth_error err = {0};
    o.root = files_path(root);
    if (myth_scan(l, mem, &o, &err) != MYTH_OK)
        fail_msg("%s", err.msg);
}

static inline const myth_scan_file *row(const myth_scan_list *l, const char *path)
{
    for (uint32_t i = 0; i < l->n_file; i++)
        if (strcmp(l->file[i].path, path) == 0)
            return &l->file[i];
    return NULL;
}

/* The paths that are in, parted by spaces. */
static inline void expect_in(const char *root, const myth_scan_opts *opts, const char *want)
{
    char got[2000] = "";
    size_t n = 0;
    myth_scan_list l;
    scan(&l, root, opts);
    for (uint32_t i = 0; i < l.n_file; i++)
        if (l.file[i].reason == MYTH_SCAN_IN)
            n += (size_t)snprintf(got + n, sizeof(got) - n, "%s%s", n ? " " : "", l.file[i].path);
    assert_string_equal(got, want);
    myth_scan_close(&l, mem);
}

static inline void expect_out(const myth_scan_list *l, const char *path, myth_scan_reason want, const char *why)
{
    const myth_scan_file *f = row(l, path);
    if (!f || f->reason != want || !f->why || !strstr(f->why, why))
        fail_msg("%s: %s, %s; expected %s, %s", path, f ? myth_scan_reason_name(f->reason) : "not listed",
                 f && f->why ? f->why : "-", myth_scan_reason_name(want), why);
}

#endif
