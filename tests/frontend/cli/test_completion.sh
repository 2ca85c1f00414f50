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
    mine = {l[l.index("-l") + 1]: l for l in fish 
            if (f"__fish_seen_subcommand_from {c}" in l or "-n" not in l) and "-l" in l}
    row = r"^  ((?:-\S+, )*)--([a-z0-9-]+)(?: (\S+))?(?:\s{2,}(.*))?$"
    for also, flag, value, text in re.findall(row, run(c, "--help"), re.M):
        n_flag += 1
        assert "--" + flag in spec, (c, flag)
        assert flag in mine, (c, flag)
        if value and "|" in value and value == value.lower():
            assert "(" + value.replace("|", " ") + ")" in spec["--" + flag], spec["--" + flag]
            assert mine[flag][mine[flag].index("-a") + 1].split() == value.split("|"), mine[flag]
        if value == "FORM=PATH":
            assert " sarif= " in spec["--" + flag] and "sarif=" in mine[flag][mine[flag].index("-a") + 1].split(), c
        if value == "ID,ID":
            assert " double-free " in spec["--" + flag], spec["--" + flag]
            assert mine[flag][mine[flag].index("-a") + 1].startswith("(__fish_append , ") and "-F" not in mine[flag], c
        for a in also.replace(",", " ").split():
            assert a in spec, (c, a)
for c, first in ("log", "list show why replay prune"), ("completion", "bash zsh fish"), ("index", "list prune"):
    assert f"1:argument:({first})" in shlex.split(cases[c].replace("\\\n", " ")), c
    assert any(l[l.index("-a") + 1] == first and f"from {c}; and not" in l[l.index("-n") + 1] for l in fish
               if "-a" in l and "-n" in l), c
print(n_flag, "flags of", len(commands), "commands")
END
bash -n "$dir/bash"
# What bash offers behind these words, of which the last is under way.
offers() {
    want=$1
    shift
    got=$(bash -c '. "$0"; COMP_WORDS=(mythos "$@") COMP_CWORD=$#; _mythos; echo "${COMPREPLY[*]}"' "$dir/bash" "$@")
    [ "$got" = "$want" ] || fail "behind $*: $got"
}
offers "list show why replay prune" log ""
offers "show" log s
offers "" log show ""
offers "--json" log --js
offers "sarif=" inspect --output sa
offers "double-free" inspect --rules double
offers "weak-hash,double-free" inspect --skip-rules weak-hash,double
offers "high" inspect --fail-level hi
offers "reserve" inspect --mem-mode r
offers "inspect-diff" inspect-d
if command -v zsh >/dev/null; then zsh -n "$dir/zsh"; else bash -n "$dir/zsh" &&
    echo "SKIPPED zsh: not installed, its script was read by bash alone"; fi
if command -v fish >/dev/null; then fish -n "$dir/fish"; else echo \
    "SKIPPED fish: not installed, its lines were read as words alone"; fi
