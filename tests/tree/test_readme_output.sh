#!/bin/sh
# What README.md shows of searches in this repository is what they print today, but for scores and numbers of lines.
# "..." stands for what the page leaves out.
set -eu
cd "${MYTHOS_SOURCE_DIR:-.}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
mythos=$(readlink -f "${MYTHOS_BIN:-build/mythos}")
XDG_CACHE_HOME=$dir/cache
XDG_STATE_HOME=$dir/state
export XDG_CACHE_HOME XDG_STATE_HOME
n_line=0
sed -n '/^\$ mythos \(search\|symbols\) /,/^$/p' README.md >"$dir/page"
while IFS= read -r line; do
    case $line in
    '$ mythos '*)
        eval "\"\$mythos\" ${line#'$ mythos '}" >"$dir/out" 2>"$dir/err" || { cat "$dir/err" >&2; exit 1; }
        sed 's/[0-9][0-9.]*/N/g' "$dir/out" >"$dir/plain"
        ;;
    '' | *' ...' | '...') ;;
    *)
        want=$(printf '%s\n' "${line%%...*}" | sed 's/[0-9][0-9.]*/N/g')
        grep -qF -- "$want" "$dir/plain" || { echo "README.md shows what is not printed: $line" >&2; exit 1; }
        n_line=$((n_line + 1))
        ;;
    esac
done <"$dir/page"
echo "$n_line lines"
[ "$n_line" -ge 8 ]
