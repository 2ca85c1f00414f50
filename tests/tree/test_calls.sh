#!/bin/sh
# No room calls a room above it: the symbols that the objects of each room need are defined in rooms at or below it, in
# the order of tests/tree/rooms.txt. The exceptions are below: tables that name what stands above them (devices,
# families, commands), and functions whose declaration is a face below while the code is above.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
objects=$MYTHOS_BUILD_DIR/CMakeFiles
if [ ! -d "$objects/mythos_frontend.dir" ] || ! command -v nm >/dev/null; then
    echo "skipped: no objects of a whole build, or no nm"
    exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

cat >"$dir/upward" <<'END'
kernels kernels/cpu myth_device_kind_cpu
kernels kernels/cuda myth_device_kind_cuda
kernels shaders myth_device_kind_vulkan
kernels/cpu kernels/cpu/ref cpu_level_ref
kernels/cpu kernels/cpu/fast cpu_level_[a-z0-9]*
engine/model engine/families myth_gemma[0-9n]*_(layers|slots|model_slots)
engine/model engine/make myth_weights_open_random
engine/run engine/make myth_weights_random_(fill|row)
engine/run engine myth_(engine_model|engine_plan|model_hash)
frontend/cli frontend myth_(commands|group_global)
frontend/cmd frontend myth_commands
frontend/eval frontend myth_commands
frontend/inspect/select frontend/inspect/report myth_missed_[a-z]*
END

# "ROOM T SYMBOL" of what is defined, "ROOM U SYMBOL" of what is needed. An object whose source is gone is an old one.
source=$PWD
for library in engine retrieval frontend eval; do
    cd "$objects/mythos_$library.dir"
    find engine kernels shaders retrieval frontend -name '*.o' 2>/dev/null | sort >"$dir/objects" || :
    while read -r object; do
        [ ! -f "$source/${object%.o}" ] || echo "$object"
    done <"$dir/objects" | xargs -r nm -A |
        sed -n 's|^\([^:]*\)/[^/:]*\.o:[0-9a-f ]* \([TDRBCU]\) \([a-z_0-9A-Z]*\)$|\1 \2 \3|p'
    cd "$source"
done >"$dir/symbols"

awk '
    FILENAME == ARGV[1] {
        if ($0 ~ /^[a-z]/) { sub(/:.*/, "", $1); if ($1 !~ /\.(h|def)$/) order[$1] = ++n }
        next
    }
    FILENAME == ARGV[2] { from[++n_up] = $1; to[n_up] = $2; name[n_up] = "^" $3 "$"; next }
    $2 != "U" { room[$3] = $1; next }
    { need[++n_need] = $0 }
    END {
        for (i = 1; i <= n_need; i++) {
            split(need[i], part, " "); a = part[1]; b = room[part[3]]
            if (b == "" || !(a in order) || !(b in order) || order[b] <= order[a]) continue
            known = 0
            for (k = 1; k <= n_up; k++)
                if (from[k] == a && to[k] == b && part[3] ~ name[k]) { known = used[k] = 1 }
            if (!known) { print a " calls " part[3] " of " b ", which is above it"; bad = 1 }
        }
        for (k = 1; k <= n_up; k++)
            if (!used[k] && to[k] !~ /cuda|shaders/) {
                print "no longer upwards: " from[k] " " to[k] " " name[k]
                bad = 1
            }
        exit bad
    }' tests/tree/rooms.txt "$dir/upward" "$dir/symbols" || exit 1
echo "$(wc -l <"$dir/symbols") symbols: none above but $(wc -l <"$dir/upward") that are named"
