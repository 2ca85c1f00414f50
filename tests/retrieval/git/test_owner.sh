#!/bin/sh
# The repository of another user: refused with what allows it, and read once it is allowed.
bin=${MYTHOS_BIN:-./build/mythos}
bin=$(cd "$(dirname "$bin")" && pwd)/$(basename "$bin")
[ "$(id -u)" -eq 0 ] || { echo "skipped: only root can give a repository to somebody else"; exit 77; }
command -v git >/dev/null || { echo "skipped: git is missing"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
export HOME="$dir/home" XDG_CACHE_HOME="$dir/cache" GIT_CONFIG_NOSYSTEM=1
unset XDG_CONFIG_HOME
mkdir "$HOME" "$dir/r"
fail() { echo "$*: $(cat "$dir/err")" >&2; exit 1; }

cd "$dir/r" || exit 1
git init -q . && echo 'int a;' >a.c && git add . && git -c user.name=a -c user.email=a@b commit -q -m first || exit 1
echo 'int b;' >>a.c
chown -R 65534 "$dir/r"
for settings in none other; do # libgit2 says it in two ways
    [ $settings = none ] || git config --global user.name a
    "$bin" inspect-diff --dry-run >"$dir/out" 2>"$dir/err"
    [ $? -eq 74 ] || fail "inspect-diff, $settings"
    grep -q 'belongs to another user; git config --global --add safe.directory' "$dir/err" ||
        fail "inspect-diff does not say why, $settings"
    grep -q 'or git config --system where HOME cannot be written' "$dir/err" ||
        fail "inspect-diff names one place, $settings"
    rm -rf "$dir/cache"
    "$bin" index . >"$dir/out" 2>"$dir/err" || fail "index, $settings"
    grep -q 'no history: the repository belongs to another user; git config' "$dir/err" ||
        fail "index does not say why, $settings"
done
git config --global --add safe.directory "$dir/r"
"$bin" inspect-diff --dry-run >"$dir/out" 2>"$dir/err" || fail "not allowed"
