/* test_limits.c - a limit as it is written: sizes, shares of a device's memory and what is left of it; and how much
 * memory a process may have in the control groups that it is in. */
#include "engine/base/asan.h"
#include "engine/run/devices.h"
#include "engine/run/host_memory.h"
#include "kernels/device.h"
#include "tests/support/check.h"
#include "tests/support/comma.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static myth_error err;

/* Sizes in MiB, for this test. */
static bool parse_mib(uint64_t *out, const char *text)
{
    char *end;
    const unsigned long long n = strtoull(text, &end, 10);
    *out = (uint64_t)n << 20;
    return end > text && strcmp(end, "M") == 0;
}

static uint64_t host_limit(const char *text)
{
    myth_mem_limits l = {0};
    if (myth_devices_read_limits(&l, text, NULL, parse_mib, &err) != MYTH_OK)
        return 0;
    return l.bytes[MYTH_MEM_HOST];
}

static void limits_are_read(void **state)
{
    (void)state;
    const uint64_t all = myth_host_memory((uint64_t)sysconf(_SC_PAGESIZE) * (uint64_t)sysconf(_SC_PHYS_PAGES));
    assert_true(all > (1u << 30));
    assert_int_equal(host_limit("512M"), 512u << 20);
    assert_int_equal(host_limit("host=512M"), 512u << 20);
    assert_int_equal(host_limit("50%"), all / 2);
    assert_int_equal(host_limit("host=50%"), all / 2);
    assert_int_equal(host_limit("100%"), all);
    assert_int_equal(host_limit("all-100M"), all - (100u << 20));
    assert_int_equal(host_limit("host=all-100M"), all - (100u << 20));
    assert_true(host_limit("12.5%") == (uint64_t)((double)all * 0.125));
    myth_mem_limits was = {.bytes = {1 << 20, 1 << 20}};
    assert_int_equal(myth_devices_read_limits(&was, "host=none", NULL, parse_mib, &err), MYTH_OK);
    assert_true(was.bytes[MYTH_MEM_HOST] == 0 && was.bytes[1] == 1 << 20);
    assert_int_equal(myth_devices_read_limits(&was, "none", NULL, parse_mib, &err), MYTH_OK);
    assert_int_equal(was.bytes[1], 0);
    static const char *const wrong[] = {"",
                                        "0%",
                                        "100.1%",
                                        "-5%",
                                        "%",
                                        "5%%",
                                        "5% ",
                                        "all",
                                        "all-",
                                        "all-x",
                                        "all-5%",
                                        "nan%",
                                        "inf%",
                                        "5",
                                        "host=",
                                        "host=5",
                                        "x=50%",
                                        "host=50%,",
                                        "all-100M,",
                                        "0x10%",
                                        "host=50%=1M",
                                        "none%",
                                        "all-none",
                                        "host=512M,host=512M",
                                        "cuda:1=5M,host=512M,cuda:1=none",
                                        "all-9999999999M"};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        myth_mem_limits l = {0};
        const myth_status st = myth_devices_read_limits(&l, wrong[i], NULL, parse_mib, &err);
        /* a comma at the end is forgiven, as it was */
        if (strcmp(wrong[i], "host=50%,") == 0)
            assert_int_equal(st, MYTH_OK);
        else if (st != MYTH_EARG)
            fail_msg("%s: status %d", wrong[i], (int)st);
    }
    assert_int_equal(host_limit("0.5"), 0);
    assert_non_null(strstr(err.msg, "write 50%"));
    if (comma_begin()) { /* of a host program: the point stays a point */
        const uint64_t got = host_limit("12.5%"), none = host_limit("12,5%");
        setlocale(LC_NUMERIC, "C");
        assert_true(got == (uint64_t)((double)all * 0.125) && none == 0);
    }
}

static bool has_driver(void)
{
    char line[512];
    bool has = false;
    FILE *f = fopen("/proc/self/maps", "r");
    while (f && fgets(line, sizeof(line), f))
        has |= strstr(line, "/libvulkan") || strstr(line, "/libcuda");
    if (f)
        fclose(f);
    return has;
}

/* A share is of the host and of the devices that may be used. The drivers of others, which take more memory than a
 * small model, are not asked, and limits that are not named stay. */
static void a_share_is_of_the_devices_named(void **state)
{
    (void)state;
    static const char *const text[] = {"50%", "all-100M", "host=50%", "512M"};
    assert_false(has_driver());
    for (size_t i = 0; i < 4; i++)
        for (int k = 0; k < 3; k++) {
            myth_mem_limits l = {0};
            const char *const devices[] = {NULL, "cpu", "cpu,cpu"};
            assert_int_equal(myth_devices_read_limits(&l, text[i], devices[k], parse_mib, &err), MYTH_OK);
            assert_true(l.bytes[MYTH_MEM_HOST] > 0);
            for (int d = 1; d < MYTH_MEM_DEVICE_MAX; d++)
                assert_int_equal(l.bytes[d], i < 3 ? 0 : 512 << 20);
        }
    assert_false(has_driver());
    myth_mem_limits l = {.bytes = {7, 8, 9}};
    assert_int_equal(myth_devices_read_limits(&l, "host=3M", "cpu", parse_mib, &err), MYTH_OK);
    assert_true(l.bytes[0] == 3 << 20 && l.bytes[1] == 8 && l.bytes[2] == 9);

    myth_mem *mem;
    myth_device_info info[MYTH_DEVICES_MAX];
    size_t n = 0;
    assert_int_equal(myth_mem_open(&mem, 0, &err), MYTH_OK);
    assert_int_equal(myth_devices_list(info, MYTH_DEVICES_MAX, &n, mem, &(myth_engine_opts){.n_threads = 1}, &err),
                     MYTH_OK);
    for (size_t i = 0; i < n; i++) {
        const int ledger = myth_device_ledger(info[i].name);
        if (ledger == MYTH_MEM_HOST || !info[i].total_bytes)
            continue;
        myth_mem_limits own = {0};
        char both[64];
        snprintf(both, sizeof(both), "cpu,%.31s", info[i].name);
        assert_int_equal(myth_devices_read_limits(&own, "50%", both, parse_mib, &err), MYTH_OK);
        assert_int_equal(own.bytes[ledger], info[i].total_bytes / 2);
        if (info[i].is_gpu || strncmp(info[i].name, "vulkan", 6) != 0)
            continue; /* a Vulkan driver that computes on the CPU has the host's memory */
        const uint64_t larger = 2 * info[i].total_bytes, smaller = info[i].total_bytes / 2;
        for (int k = 0; k < 3; k++) {
            myth_mem_set_limit(mem, ledger, k == 0 ? 0 : k == 1 ? smaller : larger); /* that of another machine's */
            assert_int_equal(myth_devices_limits(&own, mem, info[i].name, &err), MYTH_OK);
            assert_int_equal(own.in_host, k < 2 ? 1u << ledger : 0);
            assert_true(k < 2 ? own.host_and > 1 && own.host_and < myth_host_left() + (1u << 30) : own.host_and == 0);
        }
        myth_mem_set_limit(mem, ledger, 0);
    }
    assert_int_equal(myth_mem_close(mem), 0);
}

static bool can_take(uint64_t bytes)
{
    void *p = mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p != MAP_FAILED && munmap(p, (size_t)bytes) == 0;
}

/* Sets one of the limits of this process: what it may have is at most that, and what it has left it can take. */
static bool counts(int limit)
{
    static const uint64_t most = 512 << 20, bit = 1 << 20;
    const struct rlimit r = {most, most};
    if (setrlimit(limit, &r) != 0 || myth_host_memory(UINT64_MAX) > most)
        return false;
    const uint64_t left = myth_host_left();
    return left > bit && left < most && can_take(left - bit) && !can_take(left + bit);
}

static void the_limits_of_the_process_count(void **state)
{
    (void)state;
#if HAS_ASAN
    check_skip("AddressSanitizer allows no limit on the address space");
#endif
    static const int limit[] = {RLIMIT_AS, RLIMIT_DATA};
    for (int i = 0; i < 2; i++) {
        const pid_t child = fork();
        if (child == 0)
            _exit(counts(limit[i]) ? 0 : 1);
        int status = 0;
        assert_true(child > 0 && waitpid(child, &status, 0) == child);
        assert_int_equal(status, 0);
    }
}

static char dir[] = "/tmp/mythos-groups-XXXXXX";

static void put(const char *path, const char *text)
{
    char line[512];
    snprintf(line, sizeof(line), "mkdir -p \"$(dirname %s/%s)\" && printf '%s' >%s/%s", dir, path, text, dir, path);
    assert_int_equal(system(line), 0);
}

static uint64_t group_limit(const char *groups)
{
    char file[64], mount[64];
    put("groups", groups);
    snprintf(file, sizeof(file), "%s/groups", dir);
    snprintf(mount, sizeof(mount), "%s/tree", dir);
    return myth_host_group_limit(file, mount);
}

static void assert_use(const char *groups, const char *meminfo, uint64_t used, uint64_t all)
{
    char file[64], info[64], mount[64];
    put("groups", groups);
    snprintf(file, sizeof(file), "%s/groups", dir);
    snprintf(info, sizeof(info), "%s/%s", dir, meminfo);
    snprintf(mount, sizeof(mount), "%s/tree", dir);
    const myth_host_use u = myth_host_used_of(info, file, mount);
    assert_int_equal(u.used, used);
    assert_int_equal(u.all, all);
}

static void assert_left(const char *groups, const char *meminfo, uint64_t left)
{
    char file[64], info[64], mount[64];
    put("groups", groups);
    snprintf(file, sizeof(file), "%s/groups", dir);
    snprintf(info, sizeof(info), "%s/%s", dir, meminfo);
    snprintf(mount, sizeof(mount), "%s/tree", dir);
    assert_true(myth_host_left_of(info, file, mount) == left);
}

static void groups_and_those_above_count(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(dir));
    put("tree/a/b/memory.max", "max\\n");
    put("tree/a/memory.max", "3000\\n");
    put("tree/c/memory.max", "5000\\n");
    put("tree/memory/d/memory.limit_in_bytes", "700\\n");
    put("tree/memory/memory.limit_in_bytes", "9223372036854771712\\n");
    assert_true(group_limit("0::/a/b\\n") == 3000);
    assert_true(group_limit("0::/c\\n") == 5000);
    assert_true(group_limit("0::/c/missing\\n") == 5000);
    assert_true(group_limit("0::/\\n") == UINT64_MAX);
    assert_true(group_limit("7:cpu,memory:/d\\n0::/c\\n") == 700);
    assert_true(group_limit("7:cpu,memory2:/d\\n") == UINT64_MAX);
    assert_true(group_limit("7:memory:/\\n") == 9223372036854771712u);
    assert_true(group_limit("nonsense\\n:\\n::\\n") == UINT64_MAX);
    assert_true(myth_host_group_limit("/nowhere/at/all", dir) == UINT64_MAX);

    /* How full: of the groups with a limit the fullest, or the machine; what the system can drop is not in use. */
    put("tree/a/memory.current", "2900\\n");
    put("tree/a/memory.stat", "anon 100\\ninactive_file 900\\nactive_file 300\\n");
    put("tree/c/memory.current", "4900\\n");
    put("tree/memory/d/memory.usage_in_bytes", "690\\n");
    put("tree/memory/d/memory.stat", "total_inactive_file 10\\n");
    put("meminfo", "MemTotal:       1000 kB\\nMemFree:  10 kB\\nMemAvailable:    400 kB\\n");
    put("empty", "");
    assert_use("0::/a/b\\n", "meminfo", 2000, 3000);
    assert_use("0::/c\\n", "meminfo", 4900, 5000);
    assert_use("7:memory:/d\\n", "meminfo", 680, 700);
    assert_use("0::/none\\n", "meminfo", 600 << 10, 1000 << 10);
    assert_use("0::/c\\n", "empty", 4900, 5000);
    assert_use("0::/none\\n", "empty", 0, 0);
    assert_true(myth_host_used().used < myth_host_used().all);

    /* What is left is that of the group with the fewest bytes left, which need not be the fullest. */
    put("tree/e/memory.max", "4000\\n");
    put("tree/e/memory.current", "3500\\n");
    put("tree/e/small/memory.max", "380\\n");
    put("tree/e/small/memory.current", "10\\n");
    put("tree/e/large/memory.max", "3900\\n");
    put("tree/e/large/memory.current", "100\\n");
    assert_left("0::/e/small\\n", "meminfo", 370);
    assert_left("0::/e/large\\n", "meminfo", 500);
    assert_left("0::/none\\n", "meminfo", 400 << 10);
    assert_left("0::/none\\n", "empty", UINT64_MAX);
    char line[64];
    snprintf(line, sizeof(line), "rm -rf %s", dir);
    assert_int_equal(system(line), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_share_is_of_the_devices_named), /* first: nothing has loaded a driver yet */
        cmocka_unit_test(limits_are_read),
        cmocka_unit_test(the_limits_of_the_process_count),
        cmocka_unit_test(groups_and_those_above_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
