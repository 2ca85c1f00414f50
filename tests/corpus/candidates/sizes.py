"""sizes.py - examples for the rows about sizes that somebody outside chose, units, counts and copies that fail."""
import logging
import shutil
import struct
import time

log = logging.getLogger(__name__)


def take_block(link):
    (length,) = struct.unpack(">I", link.read(4))
    return link.recv_exactly(length)  # FIRES unbounded-allocation/length-read


def apexes(signal):
    found = []
    for i in range(len(signal)):
        if signal[i] > 3.0 and signal[i] >= signal[i + 1]:  # FIRES off-by-one/next-of
            found.append(i)
    return found


def quiet_off_by_one_arguments(argv):
    for i in range(len(sys.argv)):
        if sys.argv[i] == "-n":  # FIRES missing-null-check/chain
            log.info(sys.argv[i + 1])
    for i in range(len(argv)):
        if argv[i] == "-n":
            log.info(argv[i + 1])


def mean_of_warm(degrees):
    total = 0
    warm = 0
    for d in degrees:
        if d > 20:
            total += d
            warm += 1
    return total / warm  # FIRES division-by-zero/counted


def share(samples):
    usable = [s for s in samples if s.speed > 3]
    return sum(s.ready for s in usable) / len(usable)  # FIRES division-by-zero/chosen


def quiet_error_swallowed_queue(jobs, tape):
    try:
        jobs.put_nowait(tape)
    except QueueFull as exc:
        print("full", exc)
    jobs.remove(tape)


def keep_tape(tape, vault):
    try:
        shutil.copy(tape, vault)  # FIRES path-traversal/parameter
    except OSError as exc:  # FIRES error-swallowed/source-removed
        log.error("not stored: %s", exc)
    tape.unlink()


def keep_login(path, client_secret):
    with open(path, "w") as out:  # FIRES open-permissions/secret-written FIRES path-traversal/parameter
        out.write(client_secret)


def keep_pair(path, other, public_key, private_key):
    with open(path, "w") as out:  # FIRES path-traversal/parameter
        out.write(public_key)
    with open(other, "w") as out:  # FIRES open-permissions/secret-written FIRES path-traversal/parameter
        out.write(private_key)


def until(wait_ms):
    return time.time() + wait_ms  # FIRES wrong-operator/unit


def until_named(now_ms, wait_seconds):
    end_ms = now_ms + wait_seconds  # FIRES wrong-operator/unit
    return end_ms


def until_handed(plan, now_ms, wait_seconds):
    plan(end_ms=now_ms + wait_seconds)  # FIRES wrong-operator/unit


def quiet_unbounded_allocation(link, most):
    """Compared before, of two bytes, or of a constant."""
    (length,) = struct.unpack(">I", link.read(4))
    if length > most:
        raise ValueError(length)
    (short,) = struct.unpack(">H", link.read(2))
    return link.recv_exactly(length) + link.recv_exactly(short) + link.recv_exactly(16)


def quiet_off_by_one_next(signal, other):
    """One less, asked for, caught, or of another list."""
    found = []
    for i in range(len(signal) - 1):
        if signal[i] >= signal[i + 1]:
            found.append(i)
    for i in range(len(signal)):
        if i + 1 < len(signal) and signal[i] > signal[i + 1]:
            found.append(i)
        if signal[i] > other[i + 1]:
            found.append(i)
    return found


def quiet_division_by_zero_counted(degrees):
    """Asked before."""
    total = 0
    warm = 0
    for d in degrees:
        if d > 20:
            total += d
            warm += 1
    usable = [d for d in degrees if d > 3]
    if not usable:
        return 0
    rest = sum(usable) / len(usable)
    return rest + (total / warm if warm else 0)


def quiet_error_swallowed_source(tape, vault):
    """Leaves in the handler, or removes it where the copy was made."""
    try:
        shutil.copy(tape, vault)  # FIRES path-traversal/parameter
        tape.unlink()
    except OSError as exc:
        log.error("not stored: %s", exc)
    try:
        shutil.move(tape, vault)  # FIRES path-traversal/parameter
    except OSError as exc:
        log.error("not stored: %s", exc)
        return
    tape.unlink()


def quiet_open_permissions_secret(path, client_secret, os):
    """Nothing secret is written, or the mode is narrowed."""
    with open(path, "w") as out:  # FIRES path-traversal/parameter
        out.write(client_secret)
    os.chmod(path, 0o600)


def quiet_wrong_operator_unit(wait_ms, wait_seconds, now_ms):
    """Changed to the unit of the other."""
    end = time.time() + wait_ms / 1000
    end_ms = now_ms + wait_seconds * 1000
    return end, end_ms, time.time() + wait_seconds
