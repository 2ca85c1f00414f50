/* status.c - error lines that are safe to print: one line, valid UTF-8, nothing a terminal would act on. */
#include "status.h"
#include "escape.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static myth_status fail_with(myth_error *err, myth_status code, const char *option, myth_remedy remedy, const char *fmt,
                             va_list ap)
{
    if (!err)
        return code;
    char text[1024]; /* a message may quote *err itself, so it is formatted beside it */
    int n = vsnprintf(text, sizeof(text), fmt, ap);
    size_t len = n < 0 ? 0 : (size_t)n < sizeof(text) ? (size_t)n : sizeof(text) - 1;

    size_t out = 0, used;
    for (size_t i = 0; i < len; i += used) {
        char shown[MYTH_ESCAPED_MAX];
        const size_t width = myth_escape(shown, text + i, len - i, &used);
        if (out + width >= sizeof(err->msg))
            break;
        memcpy(err->msg + out, shown, width);
        out += width;
    }
    err->msg[out] = '\0';
    err->code = code;
    err->option = option;
    err->remedy = remedy;
    return code;
}

myth_status myth_fail(myth_error *err, myth_status code, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_with(err, code, NULL, MYTH_REMEDY_NONE, fmt, ap);
    va_end(ap);
    return code;
}

myth_status myth_fail_option(myth_error *err, myth_status code, const char *option, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_with(err, code, option, MYTH_REMEDY_NONE, fmt, ap);
    va_end(ap);
    return code;
}

myth_status myth_fail_remedy(myth_error *err, myth_status code, myth_remedy remedy, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fail_with(err, code, NULL, remedy, fmt, ap);
    va_end(ap);
    return code;
}

myth_status myth_fail_as(myth_error *err, const myth_error *from)
{
    if (err)
        *err = *from;
    return from->code;
}

const char *myth_status_name(myth_status code)
{
    static const char *const name[MYTH_STATUS_N] = {
        [MYTH_OK] = "MYTH_OK",
        [MYTH_EARG] = "MYTH_EARG",
        [MYTH_EIO] = "MYTH_EIO",
        [MYTH_EFORMAT] = "MYTH_EFORMAT",
        [MYTH_ENOMEM] = "MYTH_ENOMEM",
        [MYTH_EFULL] = "MYTH_EFULL",
        [MYTH_EDEVICE] = "MYTH_EDEVICE",
        [MYTH_ENOTFOUND] = "MYTH_ENOTFOUND",
        [MYTH_ECANCEL] = "MYTH_ECANCEL",
        [MYTH_ENOFIT] = "MYTH_ENOFIT",
        [MYTH_ELIMIT] = "MYTH_ELIMIT",
        [MYTH_ELOST] = "MYTH_ELOST",
        [MYTH_EUNSUPPORTED] = "MYTH_EUNSUPPORTED",
        [MYTH_ECREATE] = "MYTH_ECREATE",
    };
    return (unsigned)code < MYTH_STATUS_N ? name[code] : "MYTH_UNKNOWN";
}
