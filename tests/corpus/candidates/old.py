"""old.py - code of Python 2, in which items(), keys() and values() give lists. The marks are those of test_examples.c."""
import urllib2


def drop_old(ages):
    for name in ages:
        if ages[name] > 9:
            del ages[name]  # FIRES changed-in-loop/changed


def quiet_changed_in_loop_items(ages):
    for name, age in ages.items():
        if age > 9:
            del ages[name]


def quiet_changed_in_loop_keys(ages, gone):
    for name in ages.keys():
        if name in gone:
            ages.pop(name)
