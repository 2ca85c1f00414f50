/* test_parting.c - where two histories parted: for every pair of commits of random histories, whole and in shallow
 * clones of them, which have only some of the commits. */
#include "retrieval/git/parting.h"
#include "retrieval/revision.h"
#include "tests/support/files.h"

enum { N_COMMIT = 24, N_CLONE = 5, HEX = 40 };

static myth_mem *mem;

static int begin(void **state)
{
    (void)state;
    files_git_alone();
    return myth_mem_open(&mem, 0, NULL) == MYTH_OK && myth_git_start(NULL) == MYTH_OK ? 0 : -1;
}

static int end(void **state)
{
    (void)state;
    myth_git_stop();
    return myth_mem_close(mem) == 0 ? 0 : -1;
}

/* Runs a line of the shell in a folder; *out: its output, to be freed, or NULL. */
static void run(char **out, const char *folder, const char *line)
{
    static char text[1 << 20];
    char command[2048];
    snprintf(command, sizeof(command), "cd '%s' && { %s\n} 2>'%s'", folder, line, files_path("err"));
    FILE *p = popen(command, "r");
    assert_non_null(p);
    const size_t n = fread(text, 1, sizeof(text) - 1, p);
    text[n] = '\0';
    if (pclose(p) != 0)
        fail_msg("%s", command);
    if (out)
        assert_non_null(*out = strdup(text));
}

/* Makes commits with one parent or two, some of the same second as their parents, and a branch for each end. */
static void make_history(const char *folder, uint64_t *rng)
{
    char line[1024], *id[N_COMMIT], *tree;
    uint32_t is_parent[N_COMMIT] = {0};
    run(NULL, folder, "git init -q && git config user.email a@b && git config user.name a && git add -A");
    run(&tree, folder, "git write-tree");
    tree[strcspn(tree, "\n")] = '\0';
    for (uint32_t i = 0; i < N_COMMIT; i++) {
        const uint32_t most = i < 4 ? i : 4, back = most ? 1 + check_below(rng, most) : 0;
        const uint32_t other = most && check_below(rng, 2) ? 1 + check_below(rng, most) : back;
        int n = snprintf(line, sizeof(line), "GIT_COMMITTER_DATE='%u +0000' git commit-tree -m %u %s",
                         1700000000 + i / (1 + check_below(rng, 3)), i, tree);
        if (back)
            n += snprintf(line + n, sizeof(line) - (size_t)n, " -p %s", id[i - back]);
        if (other != back)
            n += snprintf(line + n, sizeof(line) - (size_t)n, " -p %s", id[i - other]);
        is_parent[i - back] |= back != 0;
        is_parent[i - other] |= back != 0;
        run(&id[i], folder, line);
        id[i][strcspn(id[i], "\n")] = '\0';
    }
    for (uint32_t i = 0; i < N_COMMIT; i++) {
        snprintf(line, sizeof(line), "git branch b%u %s", i, id[i]);
        if (!is_parent[i])
            run(NULL, folder, line);
        free(id[i]);
    }
    free(tree);
}

/* The commits of a history, children first, and which of them each leads to, itself with them. */
typedef struct {
    git_oid id[N_COMMIT];
    uint32_t reach[N_COMMIT], n;
} history;

static uint32_t find(const history *h, const char *hex)
{
    git_oid id;
    uint32_t i = 0;
    assert_int_equal(git_oid_fromstr(&id, hex), 0);
    while (i < h->n && git_oid_cmp(&h->id[i], &id) != 0)
        i++;
    return i;
}

/* Reads a history of which only some commits are there. Edges of the others lead nowhere. */
static void read_history(history *h, const char *folder, uint32_t is_there)
{
    char *list;
    run(&list, folder, "git rev-list --all --topo-order --parents");
    h->n = 0;
    for (const char *line = list; *line; line = strchr(line, '\n') + 1)
        assert_int_equal(git_oid_fromstr(&h->id[h->n++], line), 0);
    const char *line = list;
    for (uint32_t i = 0; i < h->n; i++, line = strchr(line, '\n') + 1) {
        h->reach[i] = 1u << i;
        for (const char *p = line + HEX; *p == ' '; p += 1 + HEX)
            h->reach[i] |= 1u << find(h, p + 1);
    }
    for (uint32_t i = h->n; i-- > 0;)
        for (uint32_t k = i + 1; k < h->n; k++)
            h->reach[i] |= h->reach[i] & is_there & 1u << k ? h->reach[k] : 0;
    for (uint32_t i = 0; i < h->n; i++)
        h->reach[i] &= is_there;
    free(list);
}

static uint32_t those_of(const history *h, const char *folder)
{
    char *list;
    uint32_t is_there = 0;
    run(&list, folder, "git rev-list --all");
    for (const char *line = list; *line; line = strchr(line, '\n') + 1)
        is_there |= 1u << find(h, line);
    free(list);
    return is_there;
}

/* The common commits that no other common one leads to. */
static uint32_t expected(const history *h, uint32_t a, uint32_t b)
{
    uint32_t common = h->reach[a] & h->reach[b], last = common;
    for (uint32_t i = 0; i < h->n; i++)
        last &= common & 1u << i ? ~h->reach[i] | 1u << i : UINT32_MAX;
    return last;
}

/* Compares all pairs of the commits that a clone has. Returns how many have none in common. */
static uint32_t compare(const history *h, const char *folder, uint32_t is_there)
{
    git_repository *repo = NULL;
    uint32_t n_none = 0;
    char *said;
    run(&said, folder, "git rev-parse --is-shallow-repository");
    const bool is_shallow = said[0] == 't';
    free(said);
    assert_int_equal(git_repository_open_ext(&repo, folder, 0, NULL), 0);
    for (uint32_t k = 0; k < h->n * h->n; k++) {
        const uint32_t a = k / h->n, b = k % h->n;
        git_oid got;
        bool is_cut;
        if (!(is_there & 1u << a) || !(is_there & 1u << b))
            continue;
        const uint32_t want = expected(h, a, b);
        const myth_status st = myth_parting(&got, &is_cut, mem, repo, &h->id[a], &h->id[b], NULL);
        assert_int_equal(is_cut, is_shallow);
        n_none += !want;
        if (st != (want ? MYTH_OK : MYTH_ENOTFOUND))
            fail_msg("%s: %u and %u: status %d", folder, a, b, (int)st);
        for (uint32_t i = 0; i < h->n && want; i++)
            if (git_oid_cmp(&h->id[i], &got) == 0 && !(want & 1u << i))
                fail_msg("%s: %u and %u: %u, expected one of %x", folder, a, b, i, want);
    }
    git_repository_free(repo);
    return n_none;
}

/* Of a whole history the last common commits are those that git names, too. */
static void as_git_says(const history *h, const char *folder)
{
    char *list;
    run(&list, folder,
        "for a in $(git rev-list --all); do for b in $(git rev-list --all); do "
        "echo $a $b $(git merge-base --all $a $b); done; done");
    for (const char *line = list; *line; line = strchr(line, '\n') + 1) {
        const char *p = line + 2 * HEX + 1;
        uint32_t said = 0;
        for (; *p == ' '; p += 1 + HEX)
            said |= 1u << find(h, p + 1);
        assert_int_equal(said, expected(h, find(h, line), find(h, line + HEX + 1)));
    }
    free(list);
}

static void of_random_histories(void **state)
{
    uint64_t rng = check_seed();
    uint32_t n_none = 0;
    char line[2048], from[512], to[512];
    history h;
    (void)state;
    for (uint32_t round = 0; round < check_sample(2); round++) {
        files_mkdir("h");
        snprintf(from, sizeof(from), "%s", files_path("h"));
        snprintf(to, sizeof(to), "%s", files_path("c"));
        make_history(from, &rng);
        read_history(&h, from, UINT32_MAX);
        as_git_says(&h, from);
        assert_int_equal(compare(&h, from, (1u << h.n) - 1), 0);
        for (int depth = 1; depth <= N_CLONE; depth++) {
            snprintf(line, sizeof(line), "git clone -q --bare --depth %d --no-single-branch 'file://%s' '%s'", depth,
                     from, to);
            run(NULL, from, line);
            const uint32_t is_there = those_of(&h, to);
            read_history(&h, from, is_there);
            n_none += compare(&h, to, is_there);
            run(NULL, from, "rm -rf ../c");
        }
        run(NULL, from, "rm -rf ../h");
    }
    assert_true(n_none > 0); /* some clones are too shallow */
}

static void expect_spec(const char *folder, const char *spec, const char *word)
{
    myth_revision *r = NULL;
    myth_error err = {0};
    const myth_status st =
        myth_revision_open(&r, mem, &(myth_revision_opts){.root = files_path(folder), .spec = spec}, &err);
    if (word ? st != MYTH_EARG || !strstr(err.msg, word) : st != MYTH_OK)
        fail_msg("%s: status %d, %s", spec, (int)st, err.msg);
    myth_revision_close(r);
}

/* The merge of a pull request as a flow checks it out, with its parents alone; and two ends without what is between. */
static void shallow_clones(void **state)
{
    (void)state;
    files_mkdir("s");
    run(NULL, files_path("s"),
        "git init -q r && cd r && git config user.email a@b && git config user.name a && git checkout -q -b main && "
        "git commit -q --allow-empty -m base && git checkout -q -b pr && git commit -q --allow-empty -m pr && "
        "git checkout -q main && git commit -q --allow-empty -m other && git checkout -q -b merge && "
        "git merge -q -m merge pr && git checkout -q --orphan own && git commit -q --allow-empty -m own && cd .. && "
        "git clone -q --depth 2 -b merge file://$PWD/r two && git clone -q --depth 1 -b pr file://$PWD/r one && "
        "git -C one fetch -q --depth 1 origin main:refs/remotes/origin/main && git clone -q file://$PWD/r all");
    expect_spec("s/two", "HEAD^1...HEAD", NULL);
    expect_spec("s/two", "HEAD...HEAD^2", NULL);
    expect_spec("s/two", "HEAD^1...HEAD^2", "fetch --unshallow");
    expect_spec("s/one", "origin/main...HEAD", "fetch --unshallow");
    expect_spec("s/one", "HEAD^1", "no such revision in this shallow clone; git fetch --unshallow");
    expect_spec("s/one", "HEAD^1..HEAD", "no such revision in this shallow clone; git fetch --unshallow");
    expect_spec("s/two", "HEAD^1", NULL);
    expect_spec("s/all", "origin/pr^1^1", "no such revision here; expected");
    expect_spec("s/all", "origin/main...origin/pr", NULL);
    expect_spec("s/all", "origin/main...origin/own", "no commit in common");
    expect_spec("s/all", "origin/main...origin/pr^{tree}", "takes two commits");
}

static void memory_that_runs_out(void **state)
{
    git_repository *repo = NULL;
    git_oid a, b, got;
    char *ids;
    bool is_cut;
    (void)state;
    run(&ids, files_path("s/two"), "git rev-parse HEAD^1 HEAD");
    assert_int_equal(git_oid_fromstr(&a, ids), 0);
    assert_int_equal(git_oid_fromstr(&b, ids + 41), 0);
    assert_int_equal(git_repository_open_ext(&repo, files_path("s/two"), 0, NULL), 0);
    for (uint64_t nth = 1;; nth++) {
        myth_mem_set_fault(mem, &(myth_fault){.fail_nth = nth});
        const myth_status st = myth_parting(&got, &is_cut, mem, repo, &a, &b, NULL);
        myth_mem_set_fault(mem, NULL);
        if (st == MYTH_OK) {
            assert_true(nth > 3 && git_oid_cmp(&got, &a) == 0);
            break;
        }
        assert_int_equal(st, MYTH_ENOMEM);
    }
    git_repository_free(repo);
    free(ids);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_random_histories),
        cmocka_unit_test(shallow_clones),
        cmocka_unit_test(memory_that_runs_out),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
