#!/usr/bin/env python3
# Runs clang-tidy with the checks of .clang-tidy over every C file that a build folder compiles of the product and of
# bench, and prints each finding once. First a file with two planted mistakes, so that an empty list of checks cannot
# pass. Exit 1 when there is a finding.
#
#   tidy.py BUILD [PART OF A PATH]        with a part of a path, only the files whose paths contain it
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

ROOMS = ('bench/', 'engine/', 'examples/', 'frontend/', 'kernels/', 'retrieval/', 'shaders/')
PLANTED = """#include <stdlib.h>
#include <string.h>
int f(const char *a, const char *b) { return memcmp(a, b, 4) ? 0 : atoi(a); }
int g(const char *a, const char *b)
{
    if (memcmp(a, b, 4))
        return 0;
    return 1;
}
"""


def tidy(build, path):
    run = subprocess.run(['clang-tidy', '--quiet', '-p', build, path], capture_output=True, text=True)
    return path, run.returncode, run.stdout, run.stderr


def check_planted(root):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'planted.c')
        with open(path, 'w') as f:
            f.write(PLANTED)
        config = '--config-file=' + os.path.join(root, '.clang-tidy')
        run = subprocess.run(['clang-tidy', '--quiet', config, path, '--'], capture_output=True, text=True)
    for name in ('bugprone-suspicious-string-compare', 'cert-err34-c'):
        if name not in run.stdout:
            sys.exit(f'tidy: a planted mistake was not found by {name}:\n{run.stdout}{run.stderr}')


def findings(text, root):
    """The pieces of clang-tidy's output that begin with "FILE:LINE:COLUMN: error"."""
    text = text.replace(root + '/', '')
    return [piece for piece in re.split(r'^(?=\S+:\d+:\d+: (?:warning|error))', text, flags=re.M) if piece.strip()]


def main():
    build = os.path.abspath(sys.argv[1])
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    version = subprocess.run(['clang-tidy', '--version'], capture_output=True, text=True).stdout
    if ' version 14.' not in version:
        sys.exit('tidy: no clang-tidy 14 here: ./setup.sh full installs it')
    check_planted(root)
    with open(os.path.join(build, 'compile_commands.json')) as f:
        paths = {os.path.normpath(os.path.join(c['directory'], c['file'])) for c in json.load(f)}
    part = sys.argv[2] if len(sys.argv) > 2 else ''
    paths = sorted(p for p in paths if p.endswith('.c') and os.path.relpath(p, root).startswith(ROOMS) and part in p)
    if not paths:
        sys.exit('tidy: the build folder compiles no such file')
    seen = set()
    is_bad = False
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for n, (path, code, out, err) in enumerate(pool.map(lambda p: tidy(build, p), paths), 1):
            for piece in findings(out, root):
                if piece not in seen:
                    seen.add(piece)
                    print(piece.rstrip(), flush=True)
            if code:
                is_bad = True
                if not out.strip():
                    print(f'{os.path.relpath(path, root)}: {err.strip()}', flush=True)
            if n % 50 == 0 or n == len(paths):
                print(f'tidy: {n} of {len(paths)} files, {len(seen)} findings', flush=True)
    sys.exit(1 if is_bad else 0)


main()
