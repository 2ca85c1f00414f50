#!/bin/sh
# Installs to a prefix of its own and builds a small program against it, once by find_package and once by pkg-config.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if grep -q '^MYTH_SANITIZE:BOOL=ON\|^MYTH_FUZZ:BOOL=ON' "$MYTHOS_BUILD_DIR/CMakeCache.txt"; then
    echo "skipped: a sanitized library is not for installing"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cmake --install "$MYTHOS_BUILD_DIR" --prefix "$dir/prefix" >/dev/null

mkdir "$dir/consumer"
cat >"$dir/consumer/main.c" <<'END'
#include <engine/engine.h>
#include <stdio.h>
int main(void)
{
    myth_mem *mem;
    myth_error err = { 0 };
    myth_model model;
    if (myth_version() != MYTH_VERSION_NUMBER)
        return 4;
    if (myth_mem_open(&mem, 0, &err) != MYTH_OK)
        return 1;
    myth_weights_opts opts = { .level = MYTH_WEIGHTS_CONFIG };
    if (myth_model_open(&model, mem, "/nowhere", &opts, &err) != MYTH_ENOTFOUND)
        return 2;
    printf("%s\n", err.msg);
    return myth_mem_close(mem) ? 3 : 0;
}
END
cat >"$dir/consumer/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.25)
project(consumer C)
find_package(mythos 0.2 CONFIG REQUIRED)
add_executable(consumer main.c)
target_link_libraries(consumer PRIVATE mythos::engine)
END
cmake -S "$dir/consumer" -B "$dir/cmake" -DCMAKE_PREFIX_PATH="$dir/prefix" >/dev/null
cmake --build "$dir/cmake" >/dev/null
"$dir/cmake/consumer"

printf '%s\n' 'cmake_minimum_required(VERSION 3.25)' 'project(consumer C)' \
    'find_package(mythos 0.2 CONFIG REQUIRED COMPONENTS nonsense)' >"$dir/consumer/CMakeLists.txt"
if cmake -S "$dir/consumer" -B "$dir/nonsense" -DCMAKE_PREFIX_PATH="$dir/prefix" >/dev/null 2>&1; then
    echo "a component that is not there is found" >&2
    exit 1
fi

pc=$(find "$dir/prefix" -name mythos.pc)
export PKG_CONFIG_PATH="${pc%/*}"
# The package file finds its prefix, which is not the one that the build was configured for.
# shellcheck disable=SC2046
cc "$dir/consumer/main.c" -o "$dir/by_pkg_config" $(pkg-config --cflags --libs mythos)
"$dir/by_pkg_config"

# A program's own names meet none of the library's: those of our rooms, and the variables of volk that are named as the
# functions of the Vulkan loader.
cat >"$dir/clash.c" <<'END'
#include <engine/engine.h>
#include <stdio.h>
int cpu_features(void), vk_write(int), vkCreateInstance(void);
int cpu_features(void) { return 1; }
int vk_write(int x) { return x; }
int vkCreateInstance(void) { return 2; }
int main(void)
{
    myth_mem *mem;
    myth_model model;
    myth_engine *engine;
    myth_error err = { 0 };
    if (myth_mem_open(&mem, 0, &err) != MYTH_OK ||
        myth_model_open(&model, mem, "random:gemma3-tiny:q8_0", NULL, &err) != MYTH_OK)
        return 1;
    if (myth_engine_open(&engine, &model, &(myth_engine_opts){ .device = "cpu", .n_ctx = 64 }, &err) != MYTH_OK)
        return 2;
    myth_engine_close(engine);
    myth_model_close(&model);
    printf("%d%d%d\n", cpu_features(), vkCreateInstance(), vk_write(3));
    return myth_mem_close(mem) ? 3 : 0;
}
END
# shellcheck disable=SC2046
cc "$dir/clash.c" -o "$dir/clash" $(pkg-config --cflags --libs mythos)
[ "$("$dir/clash")" = 123 ]

# Who built it, and where, is nothing that the library tells.
library=$(find "$dir/prefix" -name 'libmythos_engine.*' -type f)
if grep -q '^CMAKE_BUILD_TYPE:STRING=Release' "$MYTHOS_BUILD_DIR/CMakeCache.txt" &&
    strings "$library" | grep -F "$PWD/"; then
    echo "$library has the path of its sources" >&2
    exit 1
fi
cmake --install "$MYTHOS_BUILD_DIR" --component dev --strip --prefix "$dir/stripped" >/dev/null
stripped=$(find "$dir/stripped" -name "${library##*/}" -type f)
[ "$(wc -c <"$stripped")" -lt "$(wc -c <"$library")" ]
! readelf -S "$stripped" | grep -q '\.debug_info' || { echo "$stripped has debugging sections" >&2; exit 1; }
# shellcheck disable=SC2046
cc "$dir/clash.c" -o "$dir/clash" -I"$dir/stripped/include/mythos" "$stripped" \
    $(pkg-config --libs-only-l --libs-only-other mythos | sed 's/-lmythos_engine//') -pthread
[ "$("$dir/clash")" = 123 ]

# The licences of what is linked in go along with it: the parsers into the command, volk into both.
notices=$dir/prefix/share/doc/mythos/copyright
if grep -q GRAMMAR "$MYTHOS_BUILD_DIR/generated/grammars.def"; then
    sed -n 's,^[a-z][a-z]* \(@[^ /]*/\)\{0\,1\}\([a-z-]*\) \([0-9.]*\) .*,\2-\3,p' retrieval/parse/grammars.lock |
        while read -r package; do
            grep -qxF "Files: $package/*" "$notices" || { echo "no notice of $package" >&2; exit 1; }
        done
    grep -q 'Unicode, Inc' "$notices"
fi
if [ -f "$MYTHOS_BUILD_DIR/generated/vk_spirv.c" ]; then
    grep -q 'Arseny Kapoulkine' "$notices"
    grep -q 'Arseny Kapoulkine' "$dir/prefix/share/doc/libmythos-dev/copyright"
    grep -q '^ *Permission is hereby granted' "$dir/prefix/share/doc/libmythos-dev/copyright"
fi

# Every installed header compiles alone, as C11 and as C++17.
(cd "$dir/prefix/include/mythos" && find . -name '*.h') | sed 's,^\./,,' | sort >"$dir/headers"
while read -r header; do
    cc -std=c11 -D_GNU_SOURCE -Wall -Wextra -Wpedantic -Werror -I"$dir/prefix/include/mythos" -fsyntax-only -x c \
        -include "$header" /dev/null || { echo "not alone as C: $header" >&2; exit 1; }
    c++ -std=c++17 -Wall -Wextra -Werror -I"$dir/prefix/include/mythos" -fsyntax-only -x c++ -include "$header" \
        /dev/null || { echo "not alone as C++: $header" >&2; exit 1; }
done <"$dir/headers"
! grep -E '_impl\.h$|/run/run\.h$|/layout\.h$' "$dir/headers" || { echo "a private header is installed" >&2; exit 1; }

# The examples build against what is installed and run; a wrong use of them says how they are used.
for example in hello embed capture batch; do
    # shellcheck disable=SC2046
    cc -std=c11 -Wall -Wextra -Werror "examples/$example.c" -o "$dir/$example" \
        $(pkg-config --cflags --libs mythos)
    code=0
    "$dir/$example" 2>"$dir/usage" || code=$?
    [ "$code" -eq 2 ] && grep -q "usage: $example" "$dir/usage"
done
"$dir/hello" random:gemma3-tiny:q8_0 "int main" | grep -q '^(length)$'
"$dir/capture" random:gemma3-tiny:q8_0 3 "one prompt" "another" | grep -q '^layer 3: the direction has length [0-9]'
"$dir/batch" random:gemma3-tiny:q8_0 "a prompt" yes no maybe | awk '$1 < 0 { n++ } END { exit n != 3 }'
if ls models/*.gguf >/dev/null 2>&1; then
    "$dir/embed" models/mythos-embed.gguf "how is a file read" "read a file" "paint a wall" |
        awk '{ near[NR] = $1 } END { exit !(near[1] > near[2] && near[1] <= 1) }'
fi

"$dir/prefix/bin/mythos" version
if [ -f "$MYTHOS_BUILD_DIR/mythos_faiss.so" ] && ls models/*embed*.gguf >/dev/null 2>&1; then # its module is found
    mkdir "$dir/small"
    printf 'int add(int a, int b)\n{\n    return a + b;\n}\n' >"$dir/small/add.c"
    XDG_CACHE_HOME="$dir/cache" "$dir/prefix/bin/mythos" index --embed "$dir/small" >"$dir/log" 2>&1 ||
        { cat "$dir/log" >&2; exit 1; }
fi
if ls models/*.gguf >/dev/null 2>&1; then               # the shipped model goes along and is found
    "$dir/prefix/bin/mythos" info --json | grep -q "\"path\":\"$dir/prefix/share/mythos/models/"
fi
# and so does what eval measures on
"$dir/prefix/bin/mythos" eval shop --part retrieval --every 1000 -q >/dev/null
gzip -dc "$dir/prefix/share/man/man1/mythos.1.gz" | grep -q '^.TH MYTHOS 1'
grep -q '_mythos' "$dir/prefix/share/bash-completion/completions/mythos"
grep -q '^#compdef mythos' "$dir/prefix/share/zsh/site-functions/_mythos"
grep -q '^complete -c mythos' "$dir/prefix/share/fish/vendor_completions.d/mythos.fish"
echo "installed, found and linked both ways"
