/* test_scan_kinds.c - what the scan says of a file: its language, by name and first line, and whether it is a test. */
#include "retrieval/scan/scan.h"
#include "tests/support/check.h"

/* Y-19 by name; what has no known name by its first line. */
static void languages(void **state)
{
    (void)state;
    static const struct {
        const char *path, *head, *want;
    } table[] = {
        {"a.py", "", "python"},
        {"a.js", "", "javascript"},
        {"a.ts", "", "typescript"},
        {"a.tsx", "", "tsx"},
        {"a.jsx", "", "jsx"},
        {"a.go", "", "go"},
        {"a.rs", "", "rust"},
        {"a.java", "", "java"},
        {"a.kt", "", "kotlin"},
        {"a.cs", "", "csharp"},
        {"a.cpp", "", "cpp"},
        {"a.cc", "", "cpp"},
        {"a.cxx", "", "cpp"},
        {"a.hpp", "", "cpp"},
        {"a.c", "", "c"},
        {"a.h", "", "c"},
        {"a.rb", "", "ruby"},
        {"a.php", "", "php"},
        {"a.swift", "", "swift"},
        {"a.scala", "", "scala"},
        {"a.sql", "", "sql"},
        {"a.yaml", "", "yaml"},
        {"a.yml", "", "yaml"},
        {"a.toml", "", "toml"},
        {"a.json", "", "json"},
        {"a.json5", "", "json5"}, /* keys without quotes are no JSON */
        {"a.sass", "", "sass"},   /* blocks by indentation are no CSS */
        {"a.sh", "", "bash"},
        {"a.lua", "", "lua"},
        {"a.md", "", "markdown"},
        {"a.html", "", "html"},
        {"a.css", "", "css"},
        {"a.cu", "", "cuda"},
        {"a.proto", "", "protobuf"},
        {"a.zig", "", "zig"},
        {"a.ex", "", "elixir"},
        {"a.hs", "", "haskell"},
        {"a.comp", "", "glsl"},
        {"a/Dockerfile", "", "dockerfile"},
        {"Dockerfile.dev", "", "dockerfile"},
        {"Makefile", "", "make"},
        {"a.mk", "", "make"},
        {"CMakeLists.txt", "", "cmake"},
        {"a.txt", "", "text"},
        {"A.PY", "", "python"},
        {"a.b.py", "", "python"},
        {"config.h.in", "", "c"},
        {"setup.py.in", "", "python"},
        {"b.yaml.example", "", "yaml"},
        {".bashrc", "", "bash"},
        {"noname", "", "text"},
        {"py", "", "text"},
        {".py", "", "python"},
        {"a.unknown", "", "text"},
        {"run", "#!/bin/sh\n", "bash"},
        {"run", "#!/usr/bin/env python3.11\n", "python"},
        {"run", "#! /usr/bin/env -S node --x\n", "javascript"},
        {"run", "#!/usr/bin/perl -w\n", "perl"},
        {"run", "#!/usr/bin/env A=1 ruby\n", "ruby"},
        {"run", "#!/opt/mystery\n", "text"},
        {"run", "#!", "text"},
        {"run", "#!/usr/bin/env", "text"},
        {"run.py", "#!/bin/sh\n", "python"},
        {"Dockerfile.py3", "#!/bin/sh\n", "bash"},
        {"x", "/* -*- mode: c++ -*- */\n", "cpp"},
        {"x", "# -*- python -*-\n", "python"},
        {"x", "# vim: set ft=sh :\n", "bash"},
        {"x", "<?php echo 1;", "php"},
        {"x.inc", "<?php\n", "php"},
        {"x", "<?xml version='1.0'?>", "xml"},
        {"x", "\xef\xbb\xbf<!DOCTYPE html>", "html"},
        {"a.h", "namespace a {\n", "cpp"},
        {"a.h", "#pragma once\n#include <string>\n", "cpp"},
        {"a.h", "class X;\n", "cpp"},
        {"a.h", "enum class color : int { red };\n", "cpp"},
        {"a.h", "#ifdef __cplusplus\nextern \"C\" {\nnamespace x {\n#endif\nint a;\n", "c"},
        {"a.h", "#include <stdio.h>\n/* a class of things */\n", "c"},
        {"a.m", "% matlab\n", "matlab"},
        {"a.m", "#import <A.h>\n", "objc"},
        {"tool.1", ".TH TOOL 1\n", "roff"},
        {"log.1", "started\n", "text"},
        {"app_de.ts", "<?xml version='1.0'?>\n", "xml"},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const char *got =
            myth_detect_language(table[i].path, (const unsigned char *)table[i].head, strlen(table[i].head));
        if (strcmp(got, table[i].want) != 0)
            fail_msg("%s, '%s': %s, expected %s", table[i].path, table[i].head, got, table[i].want);
    }
}

static void tests_by_path(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        bool want;
    } table[] = {
        {"test/a.c", true},
        {"a/tests/b/c.py", true},
        {"src/test/java/A.java", true},
        {"test_parse.py", true},
        {"parse_test.go", true},
        {"ParserTest.java", true},
        {"ParserTests.cs", true},
        {"a.test.ts", true},
        {"a.spec.js", true},
        {"__tests__/a.js", true},
        {"user_spec.rb", true},
        {"spec/a.rb", true},
        {"conftest.py", true},
        {"My.App.Tests/A.cs", true},
        {"integration-test/a.py", true},
        {"TestParser.java", true},
        {"tests.py", true},
        {"checks/010-inspect.bats", true},
        {"systemtest/helpers.bash", true},
        {"fix/smoketests/run.sh", true},
        {"test-utils.js", true},
        {"src/a.c", false},
        {"latest.c", false},
        {"contest/a.c", false},
        {"backtest/a.py", false},
        {"bats/a.sh", false},
        {"testing.c", false},
        {"attest.go", false},
        {"src/protest/a.py", false},
        {"a/test_data.d/x.c", false},
        {"inspect.c", false},
        {"src/special.js", false},
        {"greatest_common.py", false},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        if (myth_detect_test(table[i].path) != table[i].want)
            fail_msg("%s: expected %d", table[i].path, table[i].want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(languages),
        cmocka_unit_test(tests_by_path),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
