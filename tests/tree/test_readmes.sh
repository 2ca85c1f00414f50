#!/bin/sh
# Every group of rooms has a README, the files that the tables of a README name are there, and a README that lists the
# sources of its folder leaves none out.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
bad=0
for room in bench cmake engine engine/run frontend frontend/eval frontend/inspect frontend/tools kernels kernels/cpu \
    kernels/cpu/fast kernels/cpu/ref kernels/cuda models retrieval shaders tests; do
    [ -s "$room/README.md" ] || { echo "$room has no README.md"; bad=1; }
done
[ -s ARCHITECTURE.md ] || { echo "no ARCHITECTURE.md"; bad=1; }

n=0
for readme in ARCHITECTURE.md */README.md engine/run/README.md frontend/*/README.md kernels/*/README.md \
    kernels/cpu/*/README.md; do
    folder=${readme%README.md}
    folder=${folder#ARCHITECTURE.md}
    for name in $(grep '^|' "$readme" | grep -o '`[a-z0-9_./*]*`' | tr -d '`' |
        grep -E '\.(c|h|cu|cuh|comp|glsl|def|sh|py|cmake|md|txt|lock)$|/$|\.\*$' | sort -u); do
        found=0
        for path in $folder$name $folder*/$name $folder*/*/$name $name; do
            if [ -e "$path" ]; then
                found=1
                break
            fi
        done
        [ $found = 1 ] || { echo "$readme names $name, which is not there"; bad=1; }
        n=$((n + 1))
    done
done

# Words between backquotes as patterns: `copy.c`, `fast_*.c` and `gate` name files by their name or its stem.
for readme in $(git ls-files 'engine/*README.md' 'kernels/*README.md' 'retrieval/*README.md' 'frontend/*README.md' \
    2>/dev/null || true); do
    folder=${readme%README.md}
    patterns=$(grep -o '`[^` ]*`' "$readme" | tr -d '`' | sed 's|\.\*$||' | grep -v '[/<]\|^[*.]' | sort -u)
    for source in "$folder"*.c "$folder"*.h; do
        [ -e "$source" ] || continue
        name=${source#"$folder"}
        found=0
        set -f
        for pattern in $patterns; do
            case $name in
            $pattern | $pattern.[ch]) found=1; break ;;
            esac
            case ${name%.*} in
            ${pattern%.[ch]}) found=1; break ;;
            esac
        done
        set +f
        [ $found = 1 ] || { echo "$readme does not name $name"; bad=1; }
    done
done
[ $bad -eq 0 ] || exit 1
echo "$n names of files in READMEs are there"
