"""What is shared without a lock, lost on a way out, or never run."""
import asyncpg
import socket
import threading


class Board:
    def __init__(self):
        self._lock = threading.Lock()
        self.scores = {}
        self.marks = {}

    def put(self, name, score):
        with self._lock:
            self.scores[name] = score  # FIRES missing-null-check/chain
            self.marks[name] = score

    def drop(self, name):
        with self._lock:
            self.scores.pop(name, None)  # FIRES missing-null-check/chain
            self.marks.pop(name, None)

    def total(self):
        all_of_them = 0
        for score in self.scores.values():  # FIRES missing-lock/unlocked missing-null-check/chain
            all_of_them += score
        return all_of_them

    def quiet_missing_lock_total(self):
        with self._lock:
            return self._sum()

    def _sum(self):
        all_of_them = 0
        for score in self.marks.values():  # FIRES missing-null-check/chain
            all_of_them += score
        return all_of_them

    def enter(self):
        if not self._lock.acquire(timeout=2.0):  # FIRES missing-null-check/chain
            raise OSError("busy")

    def move(self, name):
        self.enter()  # FIRES missing-unlock/way-out
        if not name:
            return False
        move_board(name)
        self._lock.release()  # FIRES missing-null-check/chain
        return True

    def quiet_missing_unlock_way(self, name):
        self._lock.acquire()  # FIRES missing-null-check/chain unchecked-return/elsewhere
        try:
            if not name:
                return False
            move_board(name)
        finally:
            self._lock.release()
        return True


def connect(host):
    link = socket.create_connection((host, 4030))  # FIRES resource-leak/lost-way
    if not greet(link):
        raise OSError("no greeting")
    return Board(link)


def quiet_resource_leak_connect(host):
    link = socket.create_connection((host, 4030))
    if not greet(link):
        link.close()
        raise OSError("no greeting")
    return Board(link)


async def mirror(pool, rows):
    async with pool.acquire() as link:
        await link.executemany("INSERT INTO seen VALUES ($1)", rows)
        link.execute("DELETE FROM seen WHERE old")  # FIRES missing-await/client


async def quiet_missing_await_mirror(pool, rows):
    async with pool.acquire() as link:
        await link.executemany("INSERT INTO seen VALUES ($1)", rows)
        await link.execute("DELETE FROM seen WHERE old")


def quiet_resource_leak_gone(host):
    link = open(host)  # FIRES path-traversal/parameter
    if not link:
        raise ValueError(host)
    return link
