#!/bin/sh
# Completion of the three shells says every command and every flag of the tables, with quotes that close; what a shell
# that is here thinks of it.
set -eu
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
fail() { echo "$1" >&2; exit 1; }
for shell in bash zsh fish; do
    "$MYTHOS_BIN" completion $shell >"$dir/$shell" || fail "$shell: exit $?"
    [ -s "$dir/$shell" ] || fail "$shell: nothing"
done
python3 - "$MYTHOS_BIN" "$dir" <<'END'
import re, shlex, subprocess, sys
bin, dir = sys.argv[1:]
run = lambda *a: subprocess.run([bin, *a], capture_output=True, text=True, check=True).stdout
commands = re.findall(r"^  ([a-z-]+) ", run("--help"), re.M)
assert len(commands) > 15, commands
zsh = open(dir + "/zsh").read()
cases = dict(re.findall(r"^    ([a-z-]+)\)\n(.*?)^        ;;$", zsh, re.M | re.S))
described = re.search(r"commands=\(\n(.*?)^        \)", zsh, re.M | re.S).group(1)
fish = [shlex.split(l) for l in open(dir + "/fish") if not l.startswith("#")]
assert all(l[:3] == ["complete", "-c", "mythos"] for l in fish)
names = {l[l.index("-a") + 1] for l in fish if "__fish_use_subcommand" in l}
assert names == set(commands), names ^ set(commands)
n_flag = 0
for c in commands:
    assert f"'{c}:" in described, c
    words = shlex.split(cases[c].replace("\\\n", " "))
    assert words[0] == "_arguments", words[0]
    spec = {re.match(r"\*?(-[^\[=]*)", w).group(1): w for w in words if re.match(r"\*?-[^\[]+\[", w)}
    mine = {l[l.index("-l") + 1]: l for l in fish if f"__fish_seen_subcommand_from {c}" in l or "-n" not in l}
    row = r"^  ((?:-\S+, )*)--([a-z0-9-]+)(?: (\S+))?(?:\s{2,}(.*))?$"
    for also, flag, value, text in re.findall(row, run(c, "--help"), re.M):
        n_flag += 1
        assert "--" + flag in spec, (c, flag)
        assert flag in mine, (c, flag)
        if value and "|" in value and value == value.lower():
            assert "(" + value.replace("|", " ") + ")" in spec["--" + flag], spec["--" + flag]
            assert mine[flag][mine[flag].index("-a") + 1].split() == value.split("|"), mine[flag]
        for a in also.replace(",", " ").split():
            assert a in spec, (c, a)
print(n_flag, "flags of", len(commands), "commands")
END
bash -n "$dir/bash"
if command -v zsh >/dev/null; then zsh -n "$dir/zsh"; else bash -n "$dir/zsh" &&
    echo "SKIPPED zsh: not installed, its script was read by bash alone"; fi
if command -v fish >/dev/null; then fish -n "$dir/fish"; else echo \
    "SKIPPED fish: not installed, its lines were read as words alone"; fi
