"""gpu_launches.py - the launches that ncu measured, one a line in their order.

Usage    gpu_launches.py FILE MODEL STEP     FILE: what ncu --csv --page raw wrote
Prints   MODEL,STEP,ORDER,KERNEL,MICROSECONDS; the kernel in quotes, with its template's arguments and without its own
"""

import csv
import sys


def main():
    path, model, step = sys.argv[1:]
    header, order = None, 0
    out = csv.writer(sys.stdout, lineterminator="\n")
    with open(path, newline="", errors="replace") as f:
        for row in csv.reader(f):
            if "Kernel Name" in row:
                header = row
            elif header and len(row) == len(header) and row[0].isdigit():
                cell = dict(zip(header, row))
                name = cell["Kernel Name"].removeprefix("void ").split("(")[0]
                us = float(cell["gpu__time_duration.sum"].replace(",", "")) / 1000
                out.writerow([model, step, order, name, f"{us:.2f}"])
                order += 1


main()
