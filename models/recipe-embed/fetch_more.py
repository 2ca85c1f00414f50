#!/usr/bin/env python3
"""fetch_more.py - the packages of both tables -> WORK/src/PACKAGE/*.c, *.py:
those of ../recipe as its fetch.py takes them, and this table's.

Licence   a wheel says its own in METADATA; one that speaks of a family that the table does not have is refused,
          whatever the row says
Left out  what development and held-out tasks are made of (EVALUATION): a package of that name, and a folder of that
          name inside another package, which is a copy
"""

import argparse
import pathlib
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "recipe"))
import fetch  # noqa: E402

EVALUATION = {
    "django",
    "python-django",
    "flask",
    "matplotlib",
    "mpl_toolkits",
    "pylint",
    "pytest",
    "_pytest",
    "requests",
    "scikit-learn",
    "sklearn",
    "seaborn",
    "sphinx",
    "sympy",
    "xarray",
    "astropy",
    "libuv",
    "libuv1",
    "libgit2",
    "curl",
}
BATCH = 10
REFUSE = re.compile(r"GPL|GNU|MPL|Mozilla|EPL|Eclipse|CDDL|EUPL|proprietary|commercial", re.I)


def packages():
    """(source, name, licence) of both tables, evaluation repositories left out."""
    for table in (HERE.parent / "recipe" / "packages.tsv", HERE / "packages.tsv"):
        for line in table.read_text().splitlines():
            source, name, _, licence = (line.split("\t") + [""] * 3)[:4]
            if not line.startswith("#") and name.lower() not in EVALUATION:
                yield source, name, licence


def stated_licence(wheel):
    """The lines of METADATA that speak of a licence."""
    with zipfile.ZipFile(wheel) as archive:
        names = [n for n in archive.namelist() if n.endswith(".dist-info/METADATA")]
        head = archive.read(names[0]).decode("utf-8", "replace").split("\n\n")[0]
    lines = [
        s
        for s in head.splitlines()
        if re.match(r"(License|License-Expression|Classifier: License ::)", s, re.I) and "File:" not in s
    ]
    return "; ".join(s.split(":", 1)[1].strip()[:80] for s in lines)


def pip(names, folder):
    folder.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", *names]
    return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0


def wheels(names, folder):
    """Downloads a batch, or one by one when one of them has no wheel."""
    if not pip(names, folder):
        for name in names:
            if not pip([name], folder):
                print(f"{name}: no wheel", flush=True)


def norm(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def extract(path, folder):
    fetch.extract(path, folder)
    for f in list(folder.iterdir()):
        if set(f.name.lower().split("__")[:-1]) & EVALUATION or f.name.lower().removesuffix(".py") in EVALUATION:
            f.unlink()
    return sum(1 for _ in folder.iterdir())


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-embed")
    args.add_argument("--source", choices=["pypi", "debian"])
    a = args.parse_args()
    rows = [r for r in packages() if not (a.work / "src" / r[1]).exists()]
    for source, name, _ in rows if a.source != "pypi" else []:
        if source == "debian":
            cache = a.work / "archive" / name
            try:
                fetch.download(source, name, cache)
            except subprocess.CalledProcessError as e:
                print(f"{name}: {e}")
                continue
            n = max([extract(p, a.work / "src" / name) for p in fetch.archives(cache)], default=0)
            print(f"{name}: {n} files", flush=True)
    names = [r[1] for r in rows if r[0] == "pypi"] if a.source != "debian" else []
    cache = a.work / "archive" / "wheels"
    for i in range(0, len(names), BATCH):
        wheels(names[i : i + BATCH], cache)
        found = {norm(p.name.split("-")[0]): p for p in sorted(cache.glob("*.whl"))}
        for name in names[i : i + BATCH]:
            path = found.get(norm(name))
            if not path:
                continue
            licence = stated_licence(path)
            if REFUSE.search(licence):
                print(f"{name}: refused, {licence}", flush=True)
                continue
            print(f"{name}: {extract(path, a.work / 'src' / name)} files; {licence}", flush=True)


if __name__ == "__main__":
    main()
