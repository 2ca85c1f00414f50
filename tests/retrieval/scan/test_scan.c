/* test_scan.c - fixture trees: which files are out and why, borders, names that are not UTF-8, order, threads. */
#define _GNU_SOURCE
#include "scan_case.h"
#include "retrieval/limits.h"
#include "retrieval/scan/ignore.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Y-17: by path component, not by substring; a pattern takes one in again. */
static void skipped_directories(void **state)
{
    (void)state;
    static const char *const dirs[] = {
        ".git", "node_modules", "vendor",   "dist",  "build", "target", ".venv",
        "venv", "__pycache__",  "coverage", ".next", ".nuxt", ".cache",
    };
    char path[100];
    myth_scan_list l;
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        snprintf(path, sizeof(path), "skip/%s/x.c", dirs[i]);
        text(path, "int x;\n");
        snprintf(path, sizeof(path), "skip/deep/er/%s/x.c", dirs[i]);
        text(path, "int x;\n");
        snprintf(path, sizeof(path), "skip/my_%s_2/x.c", dirs[i]);
        text(path, "int x;\n");
    }
    text("skip/a/build.c", "int b;\n");
    text("skip/b/vendor", "a file of that name\n");
    scan(&l, "skip", &(myth_scan_opts){.explain = true, .hidden = true});
    for (size_t i = 0; i < sizeof(dirs) / sizeof(dirs[0]); i++) {
        expect_out(&l, dirs[i], MYTH_SCAN_SKIPPED_DIR, "");
        snprintf(path, sizeof(path), "deep/er/%s", dirs[i]);
        expect_out(&l, path, MYTH_SCAN_SKIPPED_DIR, "");
        snprintf(path, sizeof(path), "my_%s_2/x.c", dirs[i]);
        assert_int_equal(row(&l, path)->reason, MYTH_SCAN_IN);
    }
    assert_int_equal(l.n_out[MYTH_SCAN_SKIPPED_DIR], 2 * sizeof(dirs) / sizeof(dirs[0]));
    assert_int_equal(row(&l, "a/build.c")->reason, MYTH_SCAN_IN);
    assert_int_equal(row(&l, "b/vendor")->reason, MYTH_SCAN_IN);
    myth_scan_close(&l, mem);

    text("skip2/vendor/a.c", "int a;\n");
    text("skip2/lib/vendor/b.c", "int b;\n");
    text("skip2/build/c.c", "int c;\n");
    text("skip2/.mythosignore", "!/vendor/\n");
    expect_in("skip2", NULL, "vendor/a.c");
    expect_in("skip2", &(myth_scan_opts){.globs = (const char *[]){"build/*.c", NULL}}, "build/c.c");
    expect_in("skip2", &(myth_scan_opts){.no_ignore = true, .globs = (const char *[]){"!build", "!vendor", NULL}}, "");
}

#define POINTER "version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 9\n"

/* Y-18: by name, by signature, by shape. */
static void binary_and_minified(void **state)
{
    (void)state;
    static char dense[9000], data[9000], prose[9000];
    myth_scan_list l;
    text("bin/a.min.js", "x\n");
    text("bin/a.min.css", "x\n");
    text("bin/a-min.js", "x\n");
    text("bin/a.js.map", "{}\n");
    text("bin/admin.js", "function admin() {\n    return 1;\n}\n");
    text("bin/min.js", "var min;\n");
    files_put_deep("bin/nul.c", "int\0x;", 6);
    files_put_deep("bin/logo.png", "\x89PNG\r\n\x1a\n----", 12);
    files_put_deep("bin/picture", "\xff\xd8\xff\xe0 no NUL in here", 20);
    text("bin/paper.txt", "%PDF-1.4\ntext all the way\n");
    files_put_deep("bin/utf16.c", "\xff\xfei\0n\0t\0\n\0", 10);
    files_put_deep("bin/utf16be.c", "\xfe\xff\0i\0n\0t", 8);
    text("bin/empty.c", "");
    memset(data, 'x', sizeof(data));
    files_put_deep("bin/late.c", data, MYTH_SNIFF_BYTES);
    data[MYTH_SNIFF_BYTES] = 0;
    files_put_deep("bin/later.c", data, sizeof(data)); /* a NUL behind what is looked at, as git */
    for (size_t i = 0; i < sizeof(dense); i++) {
        dense[i] = "function(a,b){return a.c+b};if(!x)y=z;"[i % 38];
        prose[i] = "the quick brown fox jumps over it. "[i % 35];
        data[i] = "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo"[i % 35];
    }
    files_put_deep("bin/bundle.js", dense, sizeof(dense));
    files_put_deep("bin/style.css", dense, sizeof(dense));
    files_put_deep("bin/dense.py", dense, sizeof(dense)); /* no language of minifiers */
    files_put_deep("bin/prose.js", prose, sizeof(prose));
    files_put_deep("bin/data.js", data, sizeof(data));
    text("bin/far.c", POINTER);
    text("bin/far.dat", "version https://hawser.github.com/spec/v1\noid sha256:2\n");
    text("bin/near.c", "/* version https://git-lfs.github.com/spec/v1\noid sha256:1 */\n");
    text("bin/near.txt", "version https://git-lfs.github.com/spec/v1 is what its pointers begin with\n");
    snprintf(data, sizeof(data), POINTER "%01000d", 0);
    files_put_deep("bin/long.c", data, 1024); /* Git LFS takes no such file for a pointer */
    scan(&l, "bin", &(myth_scan_opts){.explain = true});
    expect_out(&l, "far.c", MYTH_SCAN_POINTER, "Git LFS");
    expect_out(&l, "far.dat", MYTH_SCAN_POINTER, "Git LFS");
    expect_out(&l, "a.min.js", MYTH_SCAN_MINIFIED, "name");
    expect_out(&l, "a.min.css", MYTH_SCAN_MINIFIED, "name");
    expect_out(&l, "a-min.js", MYTH_SCAN_MINIFIED, "name");
    expect_out(&l, "a.js.map", MYTH_SCAN_MINIFIED, "source map");
    expect_out(&l, "bundle.js", MYTH_SCAN_MINIFIED, "long lines");
    expect_out(&l, "style.css", MYTH_SCAN_MINIFIED, "long lines");
    expect_out(&l, "nul.c", MYTH_SCAN_BINARY, "NUL");
    expect_out(&l, "logo.png", MYTH_SCAN_BINARY, "PNG");
    expect_out(&l, "picture", MYTH_SCAN_BINARY, "JPEG");
    expect_out(&l, "paper.txt", MYTH_SCAN_BINARY, "PDF");
    static const char *const in[] = {
        "admin.js", "min.js",   "utf16.c", "utf16be.c", "empty.c",  "late.c", "later.c",
        "dense.py", "prose.js", "data.js", "near.c",    "near.txt", "long.c",
    };
    for (size_t i = 0; i < sizeof(in) / sizeof(in[0]); i++)
        if (!row(&l, in[i]) || row(&l, in[i])->reason != MYTH_SCAN_IN)
            fail_msg("%s is out", in[i]);
    assert_int_equal(l.n_out[MYTH_SCAN_IN], sizeof(in) / sizeof(in[0]));
    myth_scan_close(&l, mem);
    scan(&l, "bin", &(myth_scan_opts){.lost = true}); /* code that was not fetched is lost, data is not */
    assert_true(row(&l, "far.c") && row(&l, "far.c")->is_lost);
    assert_null(row(&l, "far.dat"));
    myth_scan_close(&l, mem);

    /* The largest that is indexed, and one byte more. */
    files_mkdir("large");
    files_sparse("large/most.c", "int a;\n", 7, MYTH_FILE_BYTES);
    files_sparse("large/more.c", "int a;\n", 7, MYTH_FILE_BYTES + 1);
    scan(&l, "large", &(myth_scan_opts){.explain = true});
    expect_out(&l, "more.c", MYTH_SCAN_LARGE, "limit");
    expect_out(&l, "most.c", MYTH_SCAN_BINARY, "NUL"); /* a hole reads as NULs */
    myth_scan_close(&l, mem);
}

static void generated(void **state)
{
    (void)state;
    static const struct {
        const char *path, *content;
        bool want;
    } table[] = {
        {"gen/a.go", "// Code generated by stringer. DO NOT EDIT.\npackage a\n", true},
        {"gen/b.py", "# @generated by x\n", true},
        {"gen/c.h", "/* Licence\n * text\n */\n/* This file was generated by gen.py */\n", true},
        {"gen/d.cs", "// <auto-generated />\n", true},
        {"gen/e.c", "/*\nAutomatically generated from table.def.\n*/\nint x;\n", true},
        {"gen/f.sql", "-- DO NOT EDIT: generated by migrate\n", true},
        {"gen/g.html", "<!-- Generated by docs -->\n", true},
        {"gen/h.c", "#line 2 \"h.c\"\n\n/* A lexical scanner generated by flex */\n", true},
        {"gen/i.c", "int a;\n# line 12 \"i.y\"\nint b;\n", true},
        {"gen/j.c", "/* A Bison parser, made by GNU Bison 3.8.2.  */\nint a;\n", true},
        {"gen/k.c", "/* ANSI-C code produced by gperf version 3.1 */\nint a;\n", true},
        {"gen/l.c", "/***\n** This file is an amalgamation of many separate C source files of x.\n**/\nint a;\n", true},
        {"gen/m.c", "/* This is single source file, for a first build of x. */\nint a;\n", true},
        {"gen/n.cc", "/// X amalgamated source (https://x.org/).\nint a;\n", true},
        {"gen/o.hpp", "/*\n * This file has been merged from multiple headers.\n */\nint a;\n", true},
        {"gen/r1.go", "// Copyright\n\n// Code generated by protoc-gen-go. DO NOT EDIT.\n// versions:\n", true},
        {"gen/r2.h", "/* DO NOT EDIT THIS FILE - it is machine generated */\n#include <jni.h>\n", true},
        {"gen/r3.java",
         "/*\n * NOTE: This class is auto generated by OpenAPI Generator (https://openapi-generator.tech).\n"
         " * https://openapi-generator.tech\n * Do not edit the class manually.\n */\n",
         true},
        {"gen/r4.java",
         "/**\n * Made by Thrift Compiler (0.9.3), generated code\n *\n * DO NOT EDIT UNLESS YOU ARE SURE THAT YOU "
         "KNOW "
         "WHAT YOU ARE DOING\n */\n",
         true},
        {"gen/r5.py", "# Generated file. Do not edit.\nx = 1\n", true},
        {"gen/r6.py", "# Do not edit this file directly.\n# It is generated from setup.toml.\n", true},
        {"gen/r7.rs", "//! The tables, generated with gen.sh -- please do not modify.\n", true},
        {"gen/r8.c", "/* Classes of characters. DO NOT EDIT. Regenerate with mk_table.py. */\nint a;\n", true},
        {"gen/r9.sql", "-- WARNING: DO NOT EDIT\n-- generated: 2024-01-01\n", true},
        {"gen/r10.py", "\"\"\"Generated by ctypesgen. Do not edit.\"\"\"\n", true},
        {"gen/r11.py", "\"\"\"\nGenerated grpc classes\nDo not edit.\n\"\"\"\n", true},
        {"gen/r12.js", "/* eslint-disable */\n/** This module is generated, do not edit by hand **/\n", true},
        {"gen/r13.c", "/* DO NOT EDIT: output of the table generator mk.c */\nint a;\n", true},
        {"gen/r14.h",
         "/* Declarations. */\n\n/*\n * WARNING: This file is automatically generated by the tools/genStubs.tcl\n"
         " * script.  Any modifications should be made in the generic/tk.decls script.\n */\n",
         true},
        {"gen/r15.h", "/*\n * This file is (mostly) automatically generated from tclOO.decls.\n */\n", true},
        {"gen/r16.h", "/*\n * Please do not edit this file.\n * It was generated using rpcgen.\n */\n", true},
        {"gen/r17.pl", "# !!!!!!!   DO NOT EDIT THIS FILE   !!!!!!!\n# This file is machine-generated by mktables.\n",
         true},
        {"gen/r18.c", "// Warning: generated; see gen.py\nint a;\n", true},
        /* what speaks of marks has none */
        {"gen/no/detect.c",
         "/* detect.c - what a file is.\n *\n * Generated  a mark in the first lines\n * Source     Go's \"Code "
         "generated "
         "... DO NOT EDIT.\" */\n",
         false},
        {"gen/no/quoted.go", "// isMade looks for the line\n// \"Code generated by x. DO NOT EDIT.\" of Go.\n", false},
        {"gen/no/mark.js", "// Skips files that have `@generated` or '@generated' in them.\n", false},
        {"gen/no/writes.py", "# Writes config.h. Do not edit the generated file, but this one.\n", false},
        {"gen/no/below.c", "/* Do not edit below this line: the rest is generated. */\nint a;\n", false},
        {"gen/no/call.c", "/* Note: names are generated by the server. */\nint a;\n", false},
        {"gen/no/list.c", "/* Names are generated from it. Do not edit the order of the list. */\nint a;\n", false},
        {"gen/no/prose.c",
         "/* Tools that write generated code say so: a head that has\n * do not edit in it is theirs. */\nint a;\n",
         false},
        {"gen/no/far.c",
         "/* Names are generated by the server.\n *\n *\n *\n *\n *\n *\n *\n *\n * Do not edit this by hand. */\n",
         false},
        {"gen/no/merge.c", "/* Makes the amalgamation, a file that is merged from all others. */\nint a;\n", false},
        {"gen/no/one.c", "/* This is a single source file. */\nint a;\n", false},
        {"gen/no/line.c", "/*\n#line 2 \"x\" is what a tool writes\n*/\n#line DIRECTIVE\n", false},
        {"gen/package-lock.json", "{}\n", true},
        {"gen/x.pb.go", "package x\n", true},
        {"gen/x_pb2.py", "x = 1\n", true},
        {"gen/zz_generated.copy.go", "package x\n", true},
        {"gen/a.generated.ts", "let a;\n", true},
        {"gen/go.sum", "a\n", true},
        {"gen/by_attribute.txt", "text\n", true},
        {"gen/no/writer.py",
         "print('// Code generated by me. DO NOT EDIT.')\nx = \"\"\"\n@generatedness is no sentence\n\"\"\"\n", false},
        {"gen/no/a.c", "/* Tokens are generated by the server. */\n", false},
        {"gen/no/b.c", "// Do not edit the list below by hand.\n", false},
        {"gen/no/late.c",
         "int a;\nint b;\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n// Code generated by x. DO NOT "
         "EDIT.\n",
         false},
        {"gen/no/conf.py", "# Not all possible values are present in this\n# autogenerated file.\n", false},
        {"gen/two.py", "# Not all values are present.\n# autogenerated file\n", true},
        {"gen/no/regenerated.c", "int a;\n", false},
        {"gen/no/hand.go", "// Code generated by x. DO NOT EDIT.\n", false},
    };
    myth_scan_list l;
    text("gen/.gitattributes", "by_attribute.txt linguist-generated\n");
    text("gen/no/.gitattributes", "hand.go -linguist-generated\n");
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
        text(table[i].path, table[i].content);
    scan(&l, "gen", &(myth_scan_opts){.explain = true});
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        const myth_scan_file *f = row(&l, table[i].path + 4);
        if (!f || f->reason != MYTH_SCAN_IN || f->is_generated != table[i].want)
            fail_msg("%s: %s, expected %d", table[i].path, f && f->why ? f->why : "-", table[i].want);
        if (table[i].want)
            assert_non_null(strstr(f->why, "generated: "));
    }
    myth_scan_close(&l, mem);
}

/* Y-20: the ladder's rungs, each over the one before, and above the root. */
static void rungs(void **state)
{
    (void)state;
    text("rung/.git/HEAD", "ref: refs/heads/main\n");
    text("rung/.gitignore", "a\nb\nc\n/sub/top\nout/\n");
    text("rung/.ignore", "!a\nd\n");
    text("rung/.mythosignore", "!b\n!d\n");
    text("rung/sub/.gitignore", "e\n");
    for (const char *s = "abcde"; *s; s++) {
        char path[40];
        snprintf(path, sizeof(path), "rung/%c", *s);
        text(path, "x\n");
        snprintf(path, sizeof(path), "rung/sub/%c", *s);
        text(path, "x\n");
    }
    text("rung/sub/top", "x\n");
    text("rung/out/f", "x\n");
    expect_in("rung", NULL, "a b d e sub/a sub/b sub/d");
    expect_in("rung/sub", NULL, "a b d"); /* patterns above the root count */
    expect_in("rung", &(myth_scan_opts){.no_ignore = true}, "a b c d e out/f sub/a sub/b sub/c sub/d sub/e sub/top");
    expect_in("rung", &(myth_scan_opts){.globs = (const char *[]){"!sub", NULL}}, "a b d e");
    expect_in("rung", &(myth_scan_opts){.globs = (const char *[]){"c", NULL}},
              "c sub/c"); /* over every file of patterns */
    expect_in("rung", &(myth_scan_opts){.globs = (const char *[]){"/sub/**", "!d", NULL}},
              "sub/a sub/b sub/c sub/e sub/top");
    expect_in("rung/sub", &(myth_scan_opts){.globs = (const char *[]){"/c", NULL}}, "c");
    expect_in("rung", &(myth_scan_opts){.globs = (const char *[]){"out/f", NULL}},
              ""); /* below an ignored directory stays out */
    expect_in("rung", &(myth_scan_opts){.globs = (const char *[]){"out/", "f", NULL}}, "out/f");

    text("dots/.github/w.yml", "on: push\n");
    text("dots/.env", "A=1\n");
    text("dots/a.c", "int a;\n");
    expect_in("dots", NULL, "a.c");
    expect_in("dots", &(myth_scan_opts){.hidden = true}, ".env .github/w.yml a.c");
    text("dots/.ignore", "!.github/\n");
    expect_in("dots", NULL, ".github/w.yml a.c");

    /* A pattern that takes everything back does not mean what is never source; one that names it does. */
    text("all/.gitignore", "*\n!*/\n!*.js\n!*.css\n");
    text("all/node_modules/a.js", "x\n");
    text("all/a.js", "x\n");
    text("all/.b.js", "x\n");
    text("all/a.min.js", "x\n");
    text("all/b.min.css", "x\n");
    expect_in("all", NULL, "a.js");
    expect_in("all", &(myth_scan_opts){.globs = (const char *[]){"*", NULL}}, "a.js");
    expect_in("all", &(myth_scan_opts){.globs = (const char *[]){"*.min.js", "/b.min.css", NULL}},
              "a.min.js b.min.css");

    /* A file of patterns that is a link, too large, or a directory is not read; the large one is listed. */
    static char many[MYTH_FILE_BYTES >> 5];
    memset(many, '\n', sizeof(many));
    memcpy(many, "a\n", 2);
    text("odd/a", "x\n");
    text("odd/elsewhere", "a\n");
    text("odd/s/a", "x\n");
    text("odd/t/.gitignore/x", "x\n");
    assert_int_equal(symlink("elsewhere", files_path("odd/.gitignore")), 0);
    files_put_deep("odd/s/.gitignore", many, sizeof(many));
    expect_in("odd", NULL, "a elsewhere s/a");
    myth_scan_list l;
    scan(&l, "odd", &(myth_scan_opts){.explain = true});
    expect_out(&l, "s/.gitignore", MYTH_SCAN_LARGE, "not read");
    myth_scan_close(&l, mem);
}

static void borders(void **state)
{
    (void)state;
    myth_scan_list l;
    text("border/a.c", "int a;\n");
    text("border/.git/HEAD", "ref: x\n");
    text("border/module/.git", "gitdir: ../.git/modules/module\n");
    text("border/module/m.c", "int m;\n");
    text("border/nested/.git/HEAD", "ref: x\n");
    text("border/nested/n.c", "int n;\n");
    text("border/no_repository/.git/x", "x\n");
    text("border/no_repository/y.c", "int y;\n");
    text("outside/secret.c", "int secret;\n");
    assert_int_equal(symlink("a.c", files_path("border/to_file.c")), 0);
    assert_int_equal(symlink("../outside", files_path("border/to_dir")), 0);
    assert_int_equal(symlink(".", files_path("border/loop")), 0);
    assert_int_equal(symlink("nowhere", files_path("border/dangling")), 0);
    assert_int_equal(mkfifo(files_path("border/pipe.c"), 0600), 0);
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int s = socket(AF_UNIX, SOCK_STREAM, 0);
    snprintf(at.sun_path, sizeof(at.sun_path), "%.100s", files_path("border/socket.c"));
    assert_int_equal(bind(s, (struct sockaddr *)&at, sizeof(at)), 0);
    close(s);
    scan(&l, "border", &(myth_scan_opts){.explain = true});
    expect_out(&l, "module", MYTH_SCAN_BORDER, "repository");
    expect_out(&l, "nested", MYTH_SCAN_BORDER, "repository");
    expect_out(&l, "to_file.c", MYTH_SCAN_LINK, "link");
    expect_out(&l, "to_dir", MYTH_SCAN_LINK, "link");
    expect_out(&l, "loop", MYTH_SCAN_LINK, "link");
    expect_out(&l, "dangling", MYTH_SCAN_LINK, "link");
    expect_out(&l, "pipe.c", MYTH_SCAN_SPECIAL, "regular");
    expect_out(&l, "socket.c", MYTH_SCAN_SPECIAL, "regular");
    assert_int_equal(l.n_out[MYTH_SCAN_IN], 2);
    assert_true(row(&l, "module")->is_dir);
    myth_scan_close(&l, mem);
    expect_in("border", NULL, "a.c no_repository/y.c");
    expect_in("border/module", NULL, "m.c"); /* but when it is asked for */
    expect_in("border/to_dir", NULL, "secret.c");

    /* No file of a list is opened through a link that came later. */
    int root = open(files_path("border"), O_RDONLY | O_DIRECTORY);
    assert_int_equal(myth_scan_open(root, "to_file.c", false), -1);
    assert_int_equal(myth_scan_open(root, "to_dir/secret.c", false), -1);
    assert_int_equal(myth_scan_open(root, "../outside/secret.c", false), -1);
    int fd = myth_scan_open(root, "a.c", false);
    assert_true(fd >= 0);
    close(fd);
    close(root);
}

/* A directory of more names than the limit is one row that says so; a pattern takes it in, and asked for itself it is
 * whole. */
static void large_directories(void **state)
{
    (void)state;
    myth_scan_list l;
    char path[32];
    for (int i = 0; i < 9; i++) {
        snprintf(path, sizeof(path), "names/many/%d.c", i);
        text(path, "int a;\n");
    }
    text("names/few/a.c", "int a;\n");
    scan(&l, "names", &(myth_scan_opts){.lost = true, .dir_names = 8});
    expect_out(&l, "many", MYTH_SCAN_LARGE, "more than 8 names");
    assert_true(row(&l, "many")->is_dir && row(&l, "many")->is_lost);
    assert_int_equal(l.n_lost, 1);
    assert_int_equal(l.n_out[MYTH_SCAN_LARGE], 1);
    myth_scan_close(&l, mem);
    expect_in("names", &(myth_scan_opts){.dir_names = 8}, "few/a.c");
    expect_in("names", &(myth_scan_opts){.dir_names = 8, .names_only = true}, "few/a.c");
    const char *all = "few/a.c many/0.c many/1.c many/2.c many/3.c many/4.c many/5.c many/6.c many/7.c many/8.c";
    expect_in("names", &(myth_scan_opts){.dir_names = 9}, all);
    expect_in("names/many", &(myth_scan_opts){.dir_names = 8}, "0.c 1.c 2.c 3.c 4.c 5.c 6.c 7.c 8.c");
    text("names/.mythosignore", "!many/\n");
    expect_in("names", &(myth_scan_opts){.dir_names = 8}, all);
}

static void odd_names(void **state)
{
    (void)state;
    static const char *const name[] = {
        "new\nline.c", "esc\x1b[31m.c",    "\xff\xfe.c", "-rf",   " ",    "\\",
        "'\"`$.c",     "\xe2\x80\xae.txt", "*",          "{a,b}", "%s%n", "C:x",
    };
    char path[100], deep[5000];
    myth_scan_list l;
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++) {
        snprintf(path, sizeof(path), "odd_names/%s", name[i]);
        text(path, "x\n");
    }
    scan(&l, "odd_names", NULL);
    assert_int_equal(l.n_file, sizeof(name) / sizeof(name[0]));
    for (size_t i = 0; i < sizeof(name) / sizeof(name[0]); i++)
        assert_non_null(row(&l, name[i]));
    myth_scan_close(&l, mem);

    /* Deeper than a path can say: what can be opened is in, what lies below is listed as unreadable. */
    files_mkdir("deep");
    int fd = open(files_path("deep"), O_RDONLY | O_DIRECTORY);
    char part[201];
    memset(part, 'd', 200);
    part[200] = 0;
    for (int i = 0; i < 24; i++) {
        assert_int_equal(mkdirat(fd, part, 0700), 0);
        int f = openat(fd, "f.c", O_WRONLY | O_CREAT, 0600), next = openat(fd, part, O_RDONLY | O_DIRECTORY);
        assert_true(f >= 0 && next >= 0);
        close(f);
        close(fd);
        fd = next;
    }
    close(fd);
    scan(&l, "deep", &(myth_scan_opts){.explain = true});
    assert_int_equal(l.n_out[MYTH_SCAN_UNREADABLE], 1);
    assert_true(l.n_out[MYTH_SCAN_IN] >= 19);
    snprintf(deep, sizeof(deep), "%s/f.c", part);
    assert_non_null(row(&l, deep));
    for (uint32_t i = 0; i < l.n_file; i++)
        assert_true(strlen(l.file[i].path) < 4096 || l.file[i].reason == MYTH_SCAN_UNREADABLE);
    myth_scan_close(&l, mem);
    /* nftw cannot remove it either: by hand, from the top. */
    for (int i = 0; i < 24; i++) {
        fd = open(files_path("deep"), O_RDONLY | O_DIRECTORY);
        for (int k = 0; k < 23 - i; k++) {
            int next = openat(fd, part, O_RDONLY | O_DIRECTORY);
            close(fd);
            fd = next;
        }
        unlinkat(fd, "f.c", 0);
        assert_int_equal(unlinkat(fd, part, AT_REMOVEDIR), 0);
        close(fd);
    }
}

/* As a user for whom modes count. */
static void unreadable(void **state)
{
    (void)state;
    text("unread/a.c", "int a;\n");
    text("unread/b.c", "int b;\n");
    text("unread/d/c.c", "int c;\n");
    text("unread/shut/.gitignore", "x\n");
    text("unread/shut/x", "x\n");
    assert_int_equal(chmod(files_dir(), 0755), 0);
    assert_int_equal(chmod(files_path("unread"), 0755), 0);
    assert_int_equal(chmod(files_path("unread/a.c"), 0644), 0);
    assert_int_equal(chmod(files_path("unread/b.c"), 0), 0);
    assert_int_equal(chmod(files_path("unread/d"), 0), 0);
    assert_int_equal(chmod(files_path("unread/shut"), 0755), 0);
    assert_int_equal(chmod(files_path("unread/shut/x"), 0644), 0);
    char root[300];
    snprintf(root, sizeof(root), "%s", files_path("unread"));
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        myth_scan_list l;
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
            _exit(CHECK_SKIP);
        if (myth_scan(&l, mem, &(myth_scan_opts){.root = root, .explain = true}, NULL) != MYTH_OK)
            _exit(1);
        const myth_scan_file *b = row(&l, "b.c"), *d = row(&l, "d"), *a = row(&l, "a.c");
        _exit(a && a->reason == MYTH_SCAN_IN && b && b->reason == MYTH_SCAN_UNREADABLE && strstr(b->why, "denied") &&
                      d && d->reason == MYTH_SCAN_UNREADABLE && d->is_dir && l.n_out[MYTH_SCAN_UNREADABLE] == 2
                  ? 0
                  : 2);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    chmod(files_path("unread/d"), 0700);
    assert_int_equal(status, 0);
}

static void same_list(const myth_scan_list *a, const myth_scan_list *b)
{
    assert_int_equal(a->n_file, b->n_file);
    assert_memory_equal(a->n_out, b->n_out, sizeof(a->n_out));
    assert_int_equal(a->in_bytes, b->in_bytes);
    for (uint32_t i = 0; i < a->n_file; i++) {
        const myth_scan_file *x = &a->file[i], *y = &b->file[i];
        assert_string_equal(x->path, y->path);
        assert_string_equal(x->why ? x->why : "-", y->why ? y->why : "-");
        assert_string_equal(x->language ? x->language : "-", y->language ? y->language : "-");
        assert_true(x->reason == y->reason && x->bytes == y->bytes && x->mtime_ns == y->mtime_ns &&
                    x->inode == y->inode && x->is_test == y->is_test && x->is_generated == y->is_generated &&
                    x->is_dir == y->is_dir);
    }
}

/* '/' before every other byte. */
static int compare_paths(const char *a, const char *b)
{
    for (;; a++, b++) {
        int x = *a == '/' ? 1 : *a ? 1 + (unsigned char)*a : 0, y = *b == '/' ? 1 : *b ? 1 + (unsigned char)*b : 0;
        if (x != y || !x)
            return x - y;
    }
}

/* Y-21. */
static void order(void **state)
{
    (void)state;
    static const char *const file[] = {"a/b",    "a-b",   "a.c",   "a/b.c", "ab", "A",
                                       "a/b0/c", "a/b/x", "z\xff", "a!",    "a/-"};
    myth_scan_list l;
    for (size_t i = 0; i < sizeof(file) / sizeof(file[0]); i++) {
        char path[64];
        snprintf(path, sizeof(path), "order/%s%s", file[i], strcmp(file[i], "a/b") == 0 ? "/" : "");
        if (strcmp(file[i], "a/b") != 0)
            text(path, "x\n");
    }
    scan(&l, "order", NULL);
    assert_int_equal(l.n_file, sizeof(file) / sizeof(file[0]) - 1);
    for (uint32_t i = 1; i < l.n_file; i++)
        if (compare_paths(l.file[i - 1].path, l.file[i].path) >= 0)
            fail_msg("%s before %s", l.file[i - 1].path, l.file[i].path);
    myth_scan_close(&l, mem);

    /* This repository, whatever the number of threads. */
    const char *root = getenv("MYTHOS_SOURCE_DIR") ? getenv("MYTHOS_SOURCE_DIR") : ".";
    myth_scan_list one, many;
    assert_int_equal(myth_scan(&one, mem, &(myth_scan_opts){.root = root, .explain = true, .n_threads = 1}, NULL),
                     MYTH_OK);
    assert_true(one.n_out[MYTH_SCAN_IN] > 100);
    assert_non_null(row(&one, "retrieval/scan/scan.c"));
    for (uint32_t n = 2; n < (check_is_full() ? 200 : 20); n++) {
        assert_int_equal(
            myth_scan(&many, mem, &(myth_scan_opts){.root = root, .explain = true, .n_threads = 1 + n % 16}, NULL),
            MYTH_OK);
        same_list(&one, &many);
        myth_scan_close(&many, mem);
    }
    for (uint32_t i = 1; i < one.n_file; i++)
        assert_true(compare_paths(one.file[i - 1].path, one.file[i].path) < 0);
    myth_scan_close(&one, mem);
}

static bool is_known(void *arg, myth_scan_file *f)
{
    const myth_scan_list *before = arg;
    const myth_scan_file *b = row(before, f->path);
    if (!b || b->bytes != f->bytes || b->mtime_ns != f->mtime_ns || b->inode != f->inode)
        return false;
    f->reason = b->reason;
    f->language = b->language;
    f->is_generated = b->is_generated;
    f->is_test = b->is_test;
    f->why = b->why;
    return true;
}

/* What is as it was is not opened again: a file nobody may read stays what it was. */
static void known(void **state)
{
    (void)state;
    myth_scan_list first, second;
    text("known/a.c", "int a;\n");
    text("known/b", "#!/bin/sh\n");
    files_put_deep("known/c", "\0", 1);
    scan(&first, "known", &(myth_scan_opts){.explain = true});
    scan(&second, "known", &(myth_scan_opts){.explain = true, .known = is_known, .known_arg = &first});
    same_list(&first, &second);
    myth_scan_close(&second, mem);
    text("known/b", "print nothing at all\n");
    scan(&second, "known", &(myth_scan_opts){.explain = true, .known = is_known, .known_arg = &first});
    assert_string_equal(row(&second, "b")->language, "text");
    assert_string_equal(row(&first, "b")->language, "bash");
    myth_scan_close(&second, mem);
    myth_scan_close(&first, mem);
}

/* A scan by names alone leaves open what the first bytes say; whoever looks later says the same. */
static void names_only(void **state)
{
    (void)state;
    static unsigned char head[MYTH_SNIFF_BYTES];
    static const char *const roots[] = {"bin", "gen", "large", "all", "rung"};
    for (size_t k = 0; k < sizeof(roots) / sizeof(roots[0]); k++) {
        myth_scan_list l, names;
        static const char *const globs[] = {"*", "*.min.js", "bundle.js", NULL};
        const char *const *g = k % 2 ? globs : NULL;
        uint32_t n_in = 0;
        scan(&l, roots[k], &(myth_scan_opts){.globs = g});
        scan(&names, roots[k], &(myth_scan_opts){.names_only = true, .globs = g});
        int root = open(files_path(roots[k]), O_RDONLY | O_DIRECTORY);
        for (uint32_t i = 0; i < names.n_file; i++) {
            const myth_scan_file *f = &names.file[i];
            int fd = myth_scan_open(root, f->path, false);
            struct stat sb;
            assert_int_equal(fstat(fd, &sb), 0);
            ssize_t n = read(fd, head, sizeof(head));
            close(fd);
            bool is_in = myth_scan_look(f, (uint64_t)sb.st_size, head, (uint64_t)n) == MYTH_SCAN_IN;
            n_in += is_in;
            if (is_in != (row(&l, f->path) != NULL))
                fail_msg("%s/%s: %d", roots[k], f->path, is_in);
        }
        close(root);
        assert_int_equal(n_in, l.n_file);
        assert_true(names.n_file > 0);
        myth_scan_close(&names, mem);
        myth_scan_close(&l, mem);
    }
}

/* n lines of the text, with their number. */
static void put_lines(const char *path, const char *format, uint32_t n)
{
    char *lines = NULL;
    size_t len = 0;
    FILE *f = open_memstream(&lines, &len);
    for (uint32_t i = 0; i < n; i++)
        fprintf(f, format, i);
    fclose(f);
    files_put_deep(path, lines, len);
    free(lines);
}

/* 90,000 patterns for 20,000 files took 21 s, and 60 files of them, 176 KB when packed, 1.3 GB of memory. */
static void hostile_patterns_are_bounded(void **state)
{
    (void)state;
    char path[64];
    myth_scan_list l;
    myth_error err = {0};
    put_lines("pat/most/.gitignore", "no%u\n", MYTH_IGNORE_PATTERNS);
    put_lines("pat/more/.gitignore", "no%u\n", MYTH_IGNORE_PATTERNS + 1);
    put_lines("pat/most/below/.gitignore", "*.x%u\n", 1); /* with it a path has too many */
    put_lines("pat/some/.gitignore", "# %u\n", 80000);    /* comments are none */
    text("pat/most/a.c", "int a;\n");
    text("pat/most/below/a.x0", "a\n");
    text("pat/most/no7", "a\n");
    scan(&l, "pat", &(myth_scan_opts){.explain = true, .lost = true});
    expect_out(&l, "more/.gitignore", MYTH_SCAN_LARGE, "or 8192 for a path: not read");
    expect_out(&l, "most/below/.gitignore", MYTH_SCAN_LARGE, "not read");
    expect_out(&l, "most/no7", MYTH_SCAN_IGNORED, "no7");
    assert_int_equal(row(&l, "most/below/a.x0")->reason, MYTH_SCAN_IN);
    assert_int_equal(l.n_lost, 2);
    assert_true(myth_mem_total(mem, MYTH_MEM_HOST).peak < 8 << 20);
    myth_scan_close(&l, mem);

    for (int i = 0; i < 66; i++) { /* a pattern each, of nearly a MiB */
        snprintf(path, sizeof(path), "long/%d/.gitignore", i);
        put_lines(path, "%01048000u", 1);
    }
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("long")}, &err), MYTH_EFULL);
    assert_non_null(strstr(err.msg, "/.gitignore: with it the patterns of the tree take more than 64 MiB"));
    myth_scan_close(&l, mem);
    assert_true(myth_mem_total(mem, MYTH_MEM_HOST).peak < 200 << 20);
    files_clear("long");

    text("slow/.gitignore", "*a*a*a*a*a*a*a*a*a*a*a*b\n");
    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof(path), "slow/%d%s", i, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
        text(path, "");
    }
    const myth_scan_opts few = {.root = files_path("slow"), .ignore_steps = 1000};
    assert_int_equal(myth_scan(&l, mem, &few, &err), MYTH_ELIMIT);
    assert_non_null(strstr(err.msg, ".gitignore: matching its patterns and the others takes more than 1000 steps"));
    myth_scan_close(&l, mem);
    scan(&l, "slow", NULL);
    myth_scan_close(&l, mem);
}

static void failures(void **state)
{
    (void)state;
    myth_scan_list l;
    myth_error err = {0};
    static const myth_cancel yes = 1;
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("nowhere")}, &err), MYTH_ENOTFOUND);
    assert_int_equal(l.n_file, 0);
    files_text("a_file", "x\n");
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("a_file")}, &err), MYTH_EARG);
    assert_non_null(strstr(err.msg, "no directory"));
    files_mkdir("bare");
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("bare")}, &err), MYTH_OK);
    assert_int_equal(l.n_file, 0);
    myth_scan_close(&l, mem);
    assert_int_equal(myth_scan(&l, mem, &(myth_scan_opts){.root = files_path("bare"), .is_cancelled = &yes}, &err),
                     MYTH_ECANCEL);

    /* Every allocation refused in turn. */
    text("fault/.gitignore", "x\n!y\n");
    text("fault/.gitattributes", "x linguist-generated\n");
    text("fault/s/.ignore", "z\n");
    text("fault/s/a.c", "int a;\n");
    text("fault/s/t/b.c", "int b;\n");
    static const char *const globs[] = {"*.c", NULL};
    for (uint64_t nth = 1;; nth++) {
        myth_mem *m;
        assert_int_equal(myth_mem_open(&m, 0, NULL), MYTH_OK);
        myth_mem_set_fault(m, &(myth_fault){.fail_nth = nth, .forever = true});
        myth_status st = myth_scan(
            &l, m, &(myth_scan_opts){.root = files_path("fault"), .explain = true, .globs = globs, .n_threads = 2},
            &err);
        uint64_t n = myth_mem_n_alloc(m);
        if (st != MYTH_OK)
            assert_int_equal(st, MYTH_ENOMEM);
        myth_scan_close(&l, m);
        assert_int_equal(myth_mem_close(m), 0);
        assert_true(nth < 1000);
        if (n < nth) {
            assert_int_equal(st, MYTH_OK);
            assert_true(nth > 10);
            break;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(skipped_directories, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(binary_and_minified, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(generated, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(rungs, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(borders, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(large_directories, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(odd_names, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(unreadable, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(order, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(known, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(names_only, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(hostile_patterns_are_bounded, open_mem, close_mem),
        cmocka_unit_test_setup_teardown(failures, open_mem, close_mem),
    };
    setenv("HOME", files_dir(), 1); /* no patterns of the user's own */
    unsetenv("XDG_CONFIG_HOME");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
