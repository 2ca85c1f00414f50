"""The work of peer.sh: runs both sides, prints one line per test. Python's standard library only."""

import fcntl
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
import time

PEER = os.environ["PEER"]
MYTHOS = os.environ.get("MYTHOS", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "build", "mythos"))
THREADS = int(os.environ.get("THREADS", "2"))
ROUNDS = int(os.environ.get("ROUNDS", "3"))
PROMPT = int(os.environ.get("PROMPT", "512"))
GEN = int(os.environ.get("GEN", "64"))
DEVICE = os.environ.get("DEVICE", "cpu")
BUILD, LAYERS = ("build-vk", "99") if DEVICE.startswith("vulkan:") else ("build-cpu", "0")
# The builds of llama.cpp to compare with, as folders of PEER. After a colon come further arguments of a build, with
# commas between them: "build-cpu build-ik build-ik:-rtr,1"
PEERS = [(p, *p.partition(":")[::2]) for p in os.environ.get("PEERS", BUILD).split()]
if LAYERS != "0":
    os.environ.setdefault(
        "GGML_VK_VISIBLE_DEVICES", DEVICE[7:]
    )  # llama.cpp uses a software device only when it is named
NICE = shlex.split(os.environ.get("NICE", ""))
FOREIGN = float(os.environ.get("FOREIGN", "3"))
TRIES = int(os.environ.get("TRIES", "4"))
CELLS = [f"{m}:{t}" for m in ("gemma3-270m", "gemma3-1b") for t in ("Q8_0", "Q4_0", "BF16")]
CELLS += [f"gemma3-270m:{t}:2048" for t in ("Q8_0", "Q4_0", "BF16")]
CELLS += [f"gemma3-4b:{t}" for t in ("Q4_K_M", "Q6_K")] + [
    f"embeddinggemma-300m:{t}" for t in ("Q8_0", "Q4_0", "Q4_K_M", "BF16")
]
TICK, CORES = os.sysconf("SC_CLK_TCK"), os.cpu_count()


def processor():
    with open("/proc/cpuinfo") as f:
        found = {m[1].strip(): m[2].strip() for m in re.finditer(r"^([^:\n]+):(.*)$", f.read(), re.M)}
    return (
        f"{found.get('model name', 'unknown')} (family {found.get('cpu family', '?')} model {found.get('model', '?')})"
    )


def busy():
    with open("/proc/stat") as f:
        v = [int(x) for x in f.readline().split()[1:9]]
    return (v[0] + v[1] + v[2] + v[5] + v[6] + v[7]) / TICK


def run(command):
    """Runs a command. Returns its standard output and the percent of all processors that other processes used at the
    same time. While that is more than FOREIGN the run is repeated, TRIES in all; the least disturbed one counts."""
    best = None
    for _ in range(TRIES):
        before, start = busy(), time.time()
        child = subprocess.Popen(
            NICE + command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
        )
        text = child.stdout.read().decode(errors="replace")
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            sys.exit(f"exit {child.returncode}: {' '.join(command)}\n{text[-800:]}")
        wall = time.time() - start
        foreign = max(0.0, 100 * (busy() - before - usage.ru_utime - usage.ru_stime) / (CORES * wall))
        if best is None or foreign < best[1]:
            best = (text, foreign)
        if best[1] <= FOREIGN:
            break
    return best


def bandwidth():
    """GB/s of plain reads at this moment, the median of a short run; None when there is no probe."""
    probe = os.path.join(PEER, "limits")
    if not os.access(probe, os.X_OK):
        return None
    found = re.search(r"median +([\d.]+)", run([probe, str(THREADS), "512", "probe"])[0])
    return float(found[1]) if found else None


def ours(path, depth):
    text, foreign = run(
        [
            MYTHOS,
            "bench",
            "--device",
            DEVICE,
            "-m",
            path,
            "-p",
            str(PROMPT),
            "-n",
            str(GEN),
            "-d",
            str(depth),
            "-t",
            str(THREADS),
            "-r",
            "1",
            "--json",
        ]
    )
    rows = json.loads(text)
    return {"pp" if r["test"].startswith("pp") else "tg": (r["tok_s"], r["bytes"]) for r in rows}, foreign


def theirs(path, depth, build, more):
    work = ["-n", str(GEN), *(["-d", str(depth)] if depth else [])]  # older builds do not know -d
    if os.path.basename(path).startswith("embedding"):  # an encoder needs all of a text in one step
        work = ["-n", "0", "-embd", "1", "-ub", str(PROMPT), "-b", str(PROMPT)]
    text, foreign = run(
        [
            os.path.join(PEER, build, "bin/llama-bench"),
            "-m",
            path,
            "-p",
            str(PROMPT),
            *work,
            "-t",
            str(THREADS),
            "-ngl",
            LAYERS,
            "-fa",
            "1",
            "-r",
            "1",
            "-o",
            "json",
            *(more.split(",") if more else []),
        ]
    )
    rows = json.loads(text[text.index("[\n") :])
    return {"pp" if r["n_prompt"] else "tg": (r["avg_ts"], r["model_size"]) for r in rows}, foreign


def cell(name):
    model, kind, *rest = name.split(":")
    depth, path = int(rest[0]) if rest else 0, os.path.join(PEER, "models", f"{model}-{kind}.gguf")
    if not os.path.exists(path):
        print(f"{name}: no {path}, skipped", flush=True)
        return
    with open(path, "rb") as f:  # both sides then find the file in the page cache
        while f.read(1 << 24):
            pass
    mine, peers, bytes_, noise, bw = {"pp": [], "tg": []}, {p[0]: {"pp": [], "tg": []} for p in PEERS}, 0, 0.0, []
    sides = [(ours, (), mine)] + [(theirs, (build, more), peers[name]) for name, build, more in PEERS]
    for _ in range(ROUNDS):
        bw.append(bandwidth())
        for side, of_peer, keep in sides + sides[::-1]:
            got, foreign = side(path, depth, *of_peer)
            noise = max(noise, foreign)
            for test, (tok_s, n) in got.items():
                keep[test].append(tok_s)
                if side is ours and test == "tg":
                    bytes_ = n
        bw.append(bandwidth())
    bw = [x for x in bw if x]
    for test, n in (("pp", PROMPT), ("tg", GEN)):
        if not mine[test]:
            continue
        x, theirs_ = mine[test], {name: got[test] for name, got in peers.items()}
        median, medians = statistics.median(x), {name: statistics.median(y) for name, y in theirs_.items()}
        best = max(medians, key=medians.get)
        ratio = median / medians[best]
        line = (
            f"{model:19} {kind:6} {test}{n}{'@' + str(depth) if depth else '':6} "
            f"{median:9.1f} ({min(x):.1f}..{max(x):.1f})  "
            + "  ".join(f"{p} {medians[p]:9.1f} ({min(y):.1f}..{max(y):.1f})" for p, y in theirs_.items())
            + f"  ratio {ratio:5.2f}{'  equal' if abs(ratio - 1) < 0.03 else ''}"
        )
        record = {
            "model": model,
            "type": kind,
            "test": f"{test}{n}",
            "device": DEVICE,
            "depth": depth,
            "tok_s": median,
            "peer_tok_s": medians[best],
            "peer": best,
            "peers": medians,
            "ratio": ratio,
            "runs": len(x),
            "foreign_percent": noise,
        }
        if test == "tg" and bw and DEVICE == "cpu":
            gbs = median * bytes_ * 1e-9
            record.update(gb_s=gbs, read_gb_s=statistics.median(bw))
            line += (
                f"  {gbs:5.1f} of {statistics.median(bw):.1f} GB/s = {gbs / statistics.median(bw):.2f} "
                f"(probes {min(bw):.1f}..{max(bw):.1f})"
            )
        print(line + f"  others {noise:.0f} %", flush=True)
        if os.environ.get("OUT"):
            with open(os.environ["OUT"], "a") as f:
                f.write(json.dumps(record | {"processor": processor(), "threads": THREADS}) + "\n")


def main():
    print(f"{processor()}, {THREADS} threads, {DEVICE}; tok/s, medians of {2 * ROUNDS} processes a side", flush=True)
    with open(os.path.join(PEER, "measure.lock"), "a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        for name in sys.argv[1:] or CELLS:
            cell(name)


main()
