/* meminfo.h - what all processes use, as MYTHOS_MEMINFO says it to a command. */
#ifndef MYTH_TESTS_MEMINFO_H
#define MYTH_TESTS_MEMINFO_H

#include "tests/frontend/cli/cli_run.h"

/* In thousandths of a terabyte, in $D/use. */
static inline void meminfo_use(uint32_t thousandths)
{
    cli_result r;
    char line[256];
    snprintf(line, sizeof(line),
             "printf 'MemTotal: 1000000000 kB\\nMemAvailable: %u kB\\n' >$D/use.new && mv $D/use.new $D/use",
             (1000 - thousandths) * 1000000u);
    cli_shell(&r, line);
    assert_int_equal(r.code, 0);
}

#endif
