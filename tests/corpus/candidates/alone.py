# alone.py - faults that the text of one function shows, whatever its callers do, and code beside them that is right. The
# marks are those of test_examples.c.
import os
import tempfile


def sum_of(values):
    total = 0
    for i in range(len(values) + 1):  # FIRES off-by-one/behind
        total += values[i]
    return total


def quiet_off_by_one(values):
    parts = []
    for i in range(len(values) + 1):
        parts.append(values[:i])
    for i in range(len(values) + 1):
        if i < len(values):
            parts.append(values[i])
    return parts


def open_notes():
    return tempfile.mktemp()  # FIRES check-use-race/named


def quiet_check_use_race():
    return tempfile.mkstemp()


def read_names(path):
    r = open(path)  # FIRES resource-leak/closed-later path-traversal/parameter
    names = [line.strip() for line in r]
    if not names:
        return []
    r.close()  # FIRES missing-null-check/result-of-any
    return names


BILLING = "sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E"  # FIRES hardcoded-secret/live-key


def charge(client):
    client.open(billing_key="sk_live_9aQ2mZ7tK4xLr8Vb3Nc6Wd1E")  # FIRES hardcoded-secret/live-key


def quiet_hardcoded_secret():
    prefix = "sk_live_"
    return prefix
