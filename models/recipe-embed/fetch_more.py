#!/usr/bin/env python3
"""fetch_more.py - the packages of both tables -> WORK/src/PACKAGE/*.c, *.py, *.js, *.ts, *.go, *.rs, *.java, *.rb:
those of ../recipe and this table's, from Debian's sources and packages, PyPI's wheels and npm's archives.

Licence   a wheel says its own in METADATA, an npm archive in package.json, a Debian source for most of its files in
          debian/copyright; one that speaks of a family that the table does not have is refused, whatever the row says
Left out  what development and held-out tasks are made of (EVALUATION): a package of that name, and a folder of that
          name inside another package, which is a copy
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import tarfile
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
    "lua",
    "lua5.4",
    "aiohttp",
    "gson",
    "rack",
    "gin",
    "axum",
    "zod",
    "serde",
    "exposed",
    "trpc",
    "express",
    "fmt",
    "ripgrep",
    "bbolt",
    "chi",
    "cobra",
    "commons-lang",
    "commons-lang3",
    "sinatra",
    "tokio",
    "pydantic",
    "fastapi",
    "vitest",
    "ktor",
    "cats",
    "phoenix",
    "jackson-databind",
    "nlohmann",
    "nlohmann-json",
}
SUFFIXES = (".c", ".py", ".js", ".mjs", ".ts", ".go", ".rs", ".java", ".rb")
SKIP = re.compile(r"(^|/)(vendor|node_modules|third_party|testdata)/|\.min\.|_test\.go$|\.d\.ts$")
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


def stated_in_copyright(text):
    """The licence that a debian/copyright has for the files that no other paragraph names."""
    found = re.search(r"^Files: *\*.*?^License: *([^\n]*)", text, re.M | re.S)
    return found.group(1) if found else ""


def stated_in_debian(cache):
    for path in cache.glob("*.debian.tar.*"):
        with tarfile.open(path) as archive:
            if "debian/copyright" in archive.getnames():
                return stated_in_copyright(archive.extractfile("debian/copyright").read().decode("utf-8", "replace"))
    return ""


def stated_in_deb(path):
    for name, _, read in fetch.members(path):
        if re.search(r"usr/share/doc/[^/]+/copyright$", name):
            return stated_in_copyright(read().decode("utf-8", "replace"))
    return ""


def stated_in_npm(path):
    with tarfile.open(path) as archive:
        facts = json.load(
            archive.extractfile(next(m for m in archive if m.name.count("/") == 1 and m.name.endswith("/package.json")))
        )
    return str(facts.get("license", ""))


def npm(name, folder):
    """The archive of a package; its name is kept, with + for the / of a scope."""
    path = folder / (name.lstrip("@").replace("/", "+") + ".tgz")
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(["npm", "pack", "-s", name], cwd=folder, stdout=subprocess.PIPE, text=True)
        if done.returncode == 0:
            (folder / done.stdout.split()[-1]).rename(path)
    return path if path.exists() else None


def deb(name, folder):
    """A package of Debian that holds sources: Rust's and Go's -dev, Ruby's."""
    if not any(folder.glob(f"{name}_*.deb")):
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", name], cwd=folder, stderr=subprocess.DEVNULL)
    return next(folder.glob(f"{name}_*.deb"), None)


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
    fetch.extract(path, folder, SUFFIXES, SKIP)
    for f in list(folder.iterdir()):
        if set(f.name.lower().split("__")[:-1]) & EVALUATION or f.name.lower().removesuffix(".py") in EVALUATION:
            f.unlink()
    return sum(1 for _ in folder.iterdir())


def take(name, licence, paths, folder):
    """Unpacks a package's archives unless its own words about its licence are refused."""
    if REFUSE.search(licence):
        print(f"{name}: refused, {licence}", flush=True)
    else:
        print(f"{name}: {max([extract(p, folder) for p in paths], default=0)} files; {licence}", flush=True)


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-embed")
    args.add_argument("--source", choices=["pypi", "debian", "deb", "npm"])
    a = args.parse_args()
    archive, src = a.work / "archive", a.work / "src"
    rows = [r for r in packages() if not (src / r[1].replace("/", "+")).exists() and a.source in (None, r[0])]
    for source, name, _ in rows:
        if source == "debian":
            try:
                if not any((archive / name).glob("*.tar.*")):
                    fetch.download(source, name, archive / name)
            except subprocess.CalledProcessError as e:
                print(f"{name}: {e}")
                continue
            take(name, stated_in_debian(archive / name), fetch.archives(archive / name), src / name)
        elif source == "deb":
            path = deb(name, archive / "deb")
            if path:
                take(name, stated_in_deb(path), [path], src / name)
        elif source == "npm":
            path = npm(name, archive / "npm")
            if path:
                take(name, stated_in_npm(path), [path], src / name.lstrip("@").replace("/", "+"))
    names = [r[1] for r in rows if r[0] == "pypi"]
    cache = archive / "wheels"
    for i in range(0, len(names), BATCH):
        wheels(names[i : i + BATCH], cache)
        found = {norm(p.name.split("-")[0]): p for p in sorted(cache.glob("*.whl"))}
        for name in names[i : i + BATCH]:
            path = found.get(norm(name))
            if path:
                take(name, stated_licence(path), [path], src / name)


if __name__ == "__main__":
    main()
