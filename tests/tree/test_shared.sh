#!/bin/sh
# The engine as a shared library: a program links it and Python loads it; it needs nothing but the system's libraries,
# its soname has the part of the version that names its interface, and a program's names do not take the place of its
# own.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
if grep -q '^MYTH_SANITIZE:BOOL=ON\|^MYTH_FUZZ:BOOL=ON' "$MYTHOS_BUILD_DIR/CMakeCache.txt"; then
    echo "skipped: a sanitized library wants a sanitized program"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
library=$MYTHOS_BUILD_DIR/libmythos_engine.so
version=$(sed -n 's/^#define MYTH_VERSION_\(MAJOR\|MINOR\) //p' engine/version.h | paste -sd.)

readelf -d "$library" >"$dir/dynamic"
grep -q "SONAME.*\[libmythos_engine\.so\.$version\]" "$dir/dynamic" || fail "$(grep SONAME "$dir/dynamic")"
! grep NEEDED "$dir/dynamic" | grep -vE '\[(libc|libm|libdl|librt|libpthread|ld-linux-[a-z0-9-]*)\.so' ||
    fail "it needs more than the system's libraries"

# A function of the program with the name of one of the library's: the library goes on calling its own.
cat >"$dir/main.c" <<'END'
#include <engine/engine.h>
#include <stdio.h>
myth_weights_level myth_weights_get_level(const myth_weights *w) { (void)w; return MYTH_WEIGHTS_CONFIG; }
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
    myth_seq *seq;
    const int32_t ids[] = { 2, 5, 9 };
    const myth_generate_opts o = { .prompt = ids, .n_prompt = 3, .n_max = 4 };
    int32_t got[4];
    uint32_t n;
    myth_finish why;
    if (myth_seq_open(&seq, engine, &err) != MYTH_OK || myth_generate(engine, seq, &o, got, &n, &why, &err) != MYTH_OK)
        return 3;
    printf("%u %s\n", n, myth_finish_name(why));
    myth_seq_close(seq);
    myth_engine_close(engine);
    myth_model_close(&model);
    return myth_mem_close(mem) ? 4 : 0;
}
END
cc -I. "$dir/main.c" -o "$dir/main" -L"$MYTHOS_BUILD_DIR" -lmythos_engine -Wl,-rpath,"$MYTHOS_BUILD_DIR"
LD_LIBRARY_PATH=$MYTHOS_BUILD_DIR "$dir/main" >"$dir/n" || fail "the program ends with $?"
[ "$(cat "$dir/n")" = "4 length" ] || fail "tokens: $(cat "$dir/n")"

command -v python3 >/dev/null || { echo "SKIPPED Python: no python3"; exit 0; }
cat >"$dir/load.py" <<'END'
import ctypes, sys
lib = ctypes.CDLL(sys.argv[1])
lib.myth_version.restype = ctypes.c_uint32
major, minor = map(int, sys.argv[2].split("."))
assert lib.myth_version() // 100 == major * 100 + minor, lib.myth_version()
mem = ctypes.c_void_p()
assert lib.myth_mem_open(ctypes.byref(mem), ctypes.c_uint64(0), None) == 0
assert lib.myth_mem_close(mem) == 0
lib.myth_weights_random_size.restype = ctypes.c_char_p
assert lib.myth_weights_random_size(0).startswith(b"gemma")
try:
    lib.vkCreateInstance
except AttributeError:
    pass
else:
    sys.exit("names of volk are there for everyone")
END
python3 "$dir/load.py" "$library" "$version" || fail "Python does not load it"
echo "linked, loaded, and calls its own functions"
