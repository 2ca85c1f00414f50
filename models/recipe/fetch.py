#!/usr/bin/env python3
"""fetch.py - source packages of packages.tsv -> WORK/src/PACKAGE/*.c, *.py

Rows say where from: a Debian source package (needs a deb-src line for apt) or a wheel of PyPI. Only .c and .py files
are taken, and none that speaks of the GNU licences, of generated code or is too large to have been written by hand.
Nothing is built and no code of a package is run.
"""

import argparse
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
MAX_BYTES = 400_000
REFUSE = re.compile(
    rb"GNU (Lesser |Library |Affero )?General Public|\bL?GPL\b|[Gg]enerated (by|from|automatically)|DO NOT EDIT", re.I
)


def packages():
    """(source, name, split, licence) of every row."""
    for line in (HERE / "packages.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            yield tuple(line.split("\t"))


def download(source, name, folder):
    folder.mkdir(parents=True, exist_ok=True)
    command = {
        "debian": ["apt-get", "source", "--download-only", "-qq", name],
        "pypi": [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary", ":all:", name],
    }[source]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def members(path):
    """(name, size, read) of the files in a tar, a wheel or a Debian package."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                yield info.filename, info.file_size, lambda info=info: archive.read(info)
    elif path.suffix == ".deb":
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", str(path)], check=True, stdout=subprocess.PIPE).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            yield from members_of_tar(archive)
    else:
        with tarfile.open(path) as archive:
            yield from members_of_tar(archive)


def members_of_tar(archive):
    for member in archive:
        if member.isfile():
            yield member.name.split("/", 1)[-1], member.size, lambda member=member: archive.extractfile(member).read()


def extract(path, folder, suffixes=(".c", ".py"), skip=None):
    """Writes the files of an archive that end so; skip: an expression for paths that are left out."""
    n = 0
    folder.mkdir(parents=True, exist_ok=True)
    for name, size, read in members(path):
        if not name.endswith(suffixes) or not 200 < size < MAX_BYTES or skip and skip.search(name):
            continue
        data = read()
        if REFUSE.search(data) or b"\0" in data:
            continue
        (folder / name.replace("/", "__")[-200:]).write_bytes(data)
        n += 1
    return n


def archives(cache):
    found = [
        p for p in sorted(cache.iterdir()) if p.suffix == ".whl" or ".tar." in p.name and not p.name.endswith(".asc")
    ]
    return [p for p in found if ".orig" in p.name] or [p for p in found if ".debian." not in p.name]


def main():
    args = argparse.ArgumentParser(description=__doc__)
    args.add_argument("--work", type=pathlib.Path, default=HERE.parents[1] / "build-model")
    work = args.parse_args().work
    for source, name, _, _ in packages():
        src = work / "src" / name
        if src.exists():
            continue
        cache = work / "archive" / name
        try:
            download(source, name, cache)
        except subprocess.CalledProcessError as e:
            print(f"{name}: {e}")
            continue
        print(f"{name}: {sum(extract(p, src) for p in archives(cache))} files", flush=True)


if __name__ == "__main__":
    main()
