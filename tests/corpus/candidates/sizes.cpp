/* sizes.cpp - examples for rows about sizes that somebody outside chose, half set structs, signed bytes, counts. */
#include <arpa/inet.h>
#include <filesystem>
#include <fstream>
#include <fcntl.h>
#include <netdb.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct store {
    char secret[32];
    const char *path;
};

static void *take_block(const unsigned char *from)
{
    uint32_t length = ntohl(*(const uint32_t *)from);
    return malloc(length); /* FIRES unbounded-allocation/length-read */
}

static int resolve_half(const char *host, struct addrinfo **list)
{
    struct addrinfo hints;
    hints.ai_family = AF_UNSPEC;
    hints.ai_socktype = SOCK_STREAM;
    return getaddrinfo(host, "http", &hints, list); /* FIRES uninitialized-variable/half-set FIRES resource-leak/out-end */
}

static void join_signed(const char raw[4], struct store *s)
{
    char copy[4];
    memmove(copy, raw, 4);
    int joined = (copy[0] << 8) | copy[1]; /* FIRES sign-mixing/byte-part FIRES integer-overflow/product */
    printf("%d %s\n", joined, s->path);
}

static unsigned quiet_sign_mixing_own_type(struct store *s)
{
    UInt8 copy[4];
    read_block(s, copy);
    const unsigned joined = (static_cast<UInt32>(copy[0]) << 8) | static_cast<UInt32>(copy[1]); /* FIRES integer-overflow/product */
    return joined;
}

static int joined_signed(const char *pair)
{
    return (pair[0] << 8) | pair[1]; /* FIRES sign-mixing/byte-part FIRES integer-overflow/returned FIRES missing-bounds-check/fixed-index */
}

static int mean_of_warm(const int *degrees, int n)
{
    int total = 0, warm = 0;
    for (int i = 0; i < n; i++) {
        if (degrees[i] > 20) {
            total += degrees[i];
            warm++;
        }
    }
    return total / warm; /* FIRES division-by-zero/counted */
}

static int keep_secret(const struct store *s)
{
    FILE *out = fopen(s->path, "w"); /* FIRES open-permissions/secret-written */
    if (!out)
        return -1;
    if (fprintf(out, "%s\n", s->secret) < 0) { /* FIRES missing-null-check/argument */
        fclose(out);
        return -1;
    }
    return fclose(out);
}

static long until(long now_ms, long wait_seconds)
{
    long end_ms;
    end_ms = now_ms + wait_seconds; /* FIRES wrong-operator/unit */
    return end_ms;
}

/* compared, 16 bits wide, taken from a constant */
static void *quiet_unbounded_allocation(const unsigned char *from)
{
    uint32_t length = ntohl(*(const uint32_t *)from);
    if (length > 4096)
        return NULL;
    void *small = malloc(ntohs(*(const uint16_t *)from));
    free(small);
    return malloc(length);
}

/* zeroed by its begin, by memset, with all its members, or through a call */
static int quiet_uninitialized_variable_half_set(const char *host, struct addrinfo **list)
{
    struct addrinfo hints = {0};
    struct sigaction act;
    struct tm when;
    hints.ai_family = AF_UNSPEC;
    memset(&act, 0, sizeof(act));
    act.sa_handler = SIG_IGN;
    if (sigaction(SIGPIPE, &act, NULL) != 0 || !gmtime_r(&(time_t){0}, &when))
        return -1;
    when.tm_hour = 3;
    if (mktime(&when) < 0)
        return -1;
    return getaddrinfo(host, "http", &hints, list); /* FIRES resource-leak/out-end */
}

/* bytes without a sign, by their type or a cast, or masked */
static int quiet_sign_mixing_byte(const unsigned char *pair, const char *text)
{
    int joined = (pair[0] << 8) | pair[1]; /* FIRES integer-overflow/product FIRES missing-bounds-check/fixed-index */
    int cast = ((unsigned char)text[0] << 8) | (unsigned char)text[1]; /* FIRES integer-overflow/product */
    return joined + cast + ((text[0] << 8) | (text[1] & 0xff)); /* FIRES integer-overflow/returned */
}

/* asked before */
static int quiet_division_by_zero_counted(const int *degrees, int n)
{
    int total = 0, warm = 0;
    for (int i = 0; i < n; i++) {
        if (degrees[i] > 20) {
            total += degrees[i];
            warm++;
        }
    }
    return warm > 0 ? total / warm : 0;
}

/* for the owner only, and one that gets nothing secret */
static int quiet_open_permissions_secret(const struct store *s)
{
    int fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
    if (!out)
        return -1;
    const int failed = fprintf(out, "%s\n", s->secret) < 0; /* FIRES missing-null-check/argument */
    return fclose(out) != 0 || failed;
}

/* of one unit, or changed to it */
static long quiet_wrong_operator_unit(long now_ms, long wait_seconds, long wait_ms)
{
    long end_ms, later_ms;
    end_ms = now_ms + wait_seconds * 1000; /* FIRES integer-overflow/product */
    later_ms = now_ms + wait_ms;
    return end_ms - later_ms;
}

/* asks for the rights of the user, and opens with those of the program */
static int open_for_user(const char *path)
{
    if (access(path, R_OK) != 0 || seteuid(0) != 0)
        return -1;
    return open(path, O_RDONLY); /* FIRES check-use-race/rights FIRES path-traversal/joined */
}

/* takes the rights of the user, and asks for none */
static int quiet_check_use_race_rights(const char *path)
{
    if (seteuid(getuid()) != 0)
        return -1;
    return open(path, O_RDONLY); /* FIRES path-traversal/joined */
}

static void keep_number(const std::filesystem::path &side, const std::filesystem::path &file, int number)
{
    std::ofstream out(side);
    out << number << '\n';
    out.close();
    std::filesystem::rename(side, file); /* FIRES unchecked-return/stream-renamed FIRES path-traversal/joined */
}

/* asks the stream after it was written */
static bool quiet_unchecked_return_stream(const char *side, const char *file)
{
    std::ofstream out(side);
    out << 1 << '\n';
    out.close();
    if (!out)
        return false;
    return std::rename(side, file) == 0; /* FIRES path-traversal/joined */
}

/* any number does as a bucket of a table, as long as it is always the same */
static unsigned quiet_sign_mixing_bucket(const char *data)
{
    char from[16];
    take_bytes(from, data);
    unsigned int v = (from[0] << 24) + (from[1] << 16) + from[2]; /* FIRES integer-overflow/product */
    unsigned int w = (from[3] << 24) + (from[4] << 16) + from[5]; /* FIRES integer-overflow/product */
    return (v ^ w) % TABLE_HASH_SIZE;
}

static unsigned day_of(const char *data)
{
    char from[16];
    take_bytes(from, data);
    unsigned int v = (from[0] << 24) + (from[1] << 16) + from[2]; /* FIRES sign-mixing/byte-part integer-overflow/product */
    unsigned int w = (from[3] << 24) + (from[4] << 16) + from[5]; /* FIRES sign-mixing/byte-part integer-overflow/product */
    int h = (from[6] << 24) + (from[7] << 16) + from[8]; /* FIRES sign-mixing/byte-part */
    show_number(h % TABLE_HASH_SIZE);
    return v % 86400 + (w % TABLE_HASH_SIZE == 7);
}
