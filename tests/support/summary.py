#!/usr/bin/env python3
"""summary.py FOLDER SUITE... - the last lines of `make test`: everything that was skipped, with its reason, then the
counts of all suites together as "N passed, N failed, N skipped".

FOLDER holds a SUITE.xml and a SUITE.log for each suite (run_suite.sh). The counts are ctest's own, one for each
registered test. What a test that ran left out of itself, by lines "SKIPPED what: why", is counted apart. Exit code 1
when a test failed, could not be started, or a suite left no counts."""

import os
import re
import sys
import textwrap
import xml.etree.ElementTree


def read_outputs(path):
    """The output of each test in a ctest log, by the test's name."""
    outputs = {}
    name = None
    is_output = False
    last = ""
    with open(path, encoding="utf-8", errors="replace") as log:
        for line in log:
            started = re.match(r"\d+/\d+ Test: (.+)", line)
            if is_output:
                at = line.find("<end of output>")
                is_output = at < 0
                outputs[name].append(line.rstrip("\n") if at < 0 else line[:at])
            elif started:
                name = started.group(1)
                outputs[name] = []
            elif line.startswith("-----") and name in outputs and not outputs[name]:
                is_output = last.startswith("Output:")
            last = line
    return outputs


def left_out_of(lines):
    """The lines "SKIPPED what: why", each once; of both forms that end a test under cmocka only ours has a reason."""
    found = [line[len("SKIPPED ") :] for line in lines if re.match(r"SKIPPED .+: ", line)]
    return list(dict.fromkeys(found))


def reason_of(lines):
    """Why a whole program was skipped: what it left out, else its last line."""
    found = left_out_of(lines)
    text = [line for line in lines if line.strip()]
    if found:
        return "; ".join(found)
    return re.sub(r"^skipped: ", "", text[-1]) if text else "no reason given"


def read_suite(folder, suite, total, skipped, left_out, seeds):
    tree = xml.etree.ElementTree.parse(os.path.join(folder, suite + ".xml"))
    outputs = read_outputs(os.path.join(folder, suite + ".log"))
    for case in tree.getroot().iter("testcase"):
        name, status = case.get("name"), case.get("status")
        skip = case.find("skipped")
        lines = outputs.get(name, [])
        if status == "run":
            total["passed"] += 1
            for what in left_out_of(lines):
                left_out.setdefault(what, []).append(suite + " " + name)
        elif status == "disabled" or (skip is not None and skip.get("message", "").startswith("SKIP_")):
            total["skipped"] += 1
            skipped.setdefault("disabled" if status == "disabled" else reason_of(lines), []).append(suite + " " + name)
        else:  # failed, ran out of time, or could not be started
            total["failed"] += 1
        for line in lines:
            seed = re.match(r"seed (\d+), from", line)
            if seed:
                seeds.add(seed.group(1))


def show(title, rows):
    if not rows:
        return
    print(title)
    for reason, tests in sorted(rows.items()):
        print("  " + reason)
        print(
            textwrap.fill(
                ", ".join(tests),
                120,
                initial_indent="      ",
                subsequent_indent="      ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    folder, suites = arguments[0], arguments[1:]
    total = {"passed": 0, "failed": 0, "skipped": 0}
    skipped, left_out, seeds, missing = {}, {}, set(), []
    for suite in suites:
        try:
            read_suite(folder, suite, total, skipped, left_out, seeds)
        except (OSError, xml.etree.ElementTree.ParseError):
            missing.append(suite)
    print()
    show("%d tests were skipped:" % total["skipped"], skipped)
    show("%d cases, levels or devices were left out by tests that ran:" % len(left_out), left_out)
    for seed in sorted(seeds):
        print("seed of random cases: %s (MYTHOS_TEST_SEED=%s repeats them)" % (seed, seed))
    for suite in missing:
        print("%s: this suite did not run to its end" % suite)
    print("%d passed, %d failed, %d skipped" % (total["passed"], total["failed"], total["skipped"]))
    return 1 if total["failed"] or missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
