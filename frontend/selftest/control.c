/* control.c - a job is paused and gets another limit while it runs; what it writes is what it writes undisturbed. */
#include "selftest.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define JOB "residuals ~/prompts.jsonl -m ~/m.gguf --batch 2 -q -o ~/"

static void *job(void *arg)
{
    static int code;
    code = myth_selftest_run(arg, NULL, JOB "again.safetensors --control ~/socket");
    return &code;
}

/* Asks the job; NULL: it does not answer. */
static json_t *ask(const myth_selftest *t, const char *line)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    char got[1 << 14];
    size_t n = 0;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s/socket", t->dir);
    if (fd < 0 || connect(fd, (struct sockaddr *)&a, sizeof(a)) != 0 ||
        send(fd, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line)) {
        close(fd);
        return NULL;
    }
    for (ssize_t k; n < sizeof(got) && !memchr(got, '\n', n) && (k = recv(fd, got + n, sizeof(got) - n, 0)) > 0;)
        n += (size_t)k;
    close(fd);
    return json_loadb(got, n, 0, NULL);
}

/* Asks until the job obeys: before it has a journal it cannot. */
static bool obeys(const myth_selftest *t, const char *line)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    bool is_ok = false;
    for (int i = 0; i < 1000 && !is_ok; i++) {
        json_t *a = ask(t, line);
        is_ok = json_is_true(json_object_get(a, "ok"));
        json_decref(a);
        nanosleep(&pause, NULL);
    }
    return is_ok;
}

static bool is_same(const myth_selftest *t)
{
    char path[2][PATH_MAX], a[4096], b[4096];
    size_t n = 1, m = 1, sum = 0;
    bool is = true;
    snprintf(path[0], sizeof(path[0]), "%s/alone.safetensors", t->dir);
    snprintf(path[1], sizeof(path[1]), "%s/again.safetensors", t->dir);
    FILE *f = fopen(path[0], "re"), *g = fopen(path[1], "re");
    while (f && g && is && n) {
        n = fread(a, 1, sizeof(a), f);
        m = fread(b, 1, sizeof(b), g);
        is = n == m && memcmp(a, b, n) == 0;
        sum += n;
    }
    if (f)
        fclose(f);
    if (g)
        fclose(g);
    return is && sum > 0;
}

bool myth_selftest_control(myth_selftest *t)
{
    pthread_t thread;
    void *code = NULL;
    json_int_t used = -1;
    const int alone = myth_selftest_run(t, NULL, JOB "alone.safetensors");
    if (pthread_create(&thread, NULL, job, t) != 0)
        return myth_selftest_say(t, false, "the system gives no thread");
    const bool is_paused = obeys(t, "{\"cmd\":\"pause\"}\n");
    json_t *stats = ask(t, "{\"cmd\":\"stats\"}\n");
    if (stats)
        used = json_integer_value(json_object_get(json_object_get(stats, "stats"), "used_bytes"));
    json_decref(stats);
    const bool is_limited = obeys(t, "{\"cmd\":\"resume\"}\n") && obeys(t, "{\"cmd\":\"limit\",\"size\":\"1GiB\"}\n");
    pthread_join(thread, &code);
    const int again = code ? *(int *)code : -1;
    const bool same = is_same(t);
    return myth_selftest_say(t, alone == 0 && again == 0 && is_paused && is_limited && used == 0 && same,
                             "exit codes %d and %d, %s, %lld bytes held, %s, %s", alone, again,
                             is_paused ? "paused" : "not paused", (long long)used,
                             is_limited ? "another limit" : "no other limit", same ? "same bytes" : "other bytes");
}
