"""units.py - functions of C and Python files, as lists of lines, and where statements may be put into them.

A unit is one function with its own indentation. C is cut by the braces in column 0 and never parsed;
Python is cut and checked by `ast`.
"""

import ast
import re
import textwrap

MAX_LINES, MIN_LINES, MAX_LINE_BYTES = 48, 5, 110
C_HEAD = re.compile(r"^[A-Za-z_][\w\s\*]*?\**\s*\b(\w+)\s*\([^;]*\)?[^;]*$")
NOT_HEAD = re.compile(r"^(struct|enum|union|typedef|extern|#|/|\*|static const|else|case|default)\b|=|^\s")


def usable(lines):
    return MIN_LINES <= len(lines) <= MAX_LINES and all(len(s) <= MAX_LINE_BYTES and s.isascii() for s in lines)


def c_units(text):
    """Functions whose closing brace stands in column 0."""
    lines = text.expandtabs(8).splitlines() if text.count("\n\t") < 5 else text.splitlines()
    i = 0
    while i < len(lines):
        if not (lines[i].startswith("{") or re.match(r"^[A-Za-z_].*\)\s*\{\s*$", lines[i])):
            i += 1
            continue
        first = i
        if lines[i].startswith("{"):
            while (
                first > 0
                and lines[first - 1].strip()
                and not lines[first - 1].startswith(("#", "}", "/", " *", "*/"))
                and i - first < 4
            ):
                first -= 1
        last = next((j for j in range(i + 1, min(i + 90, len(lines))) if lines[j].startswith("}")), None)
        if last is None:
            i += 1
            continue
        head = " ".join(lines[first : i + 1])
        if "(" in head and not NOT_HEAD.search(head.split("(")[0]) and lines[last].strip() == "}":
            unit = [s.rstrip() for s in lines[first : last + 1]]
            if usable(unit):
                yield unit
        i = last + 1


def py_units(text):
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            unit = [s.rstrip() for s in lines[first - 1 : node.end_lineno]]
            if usable(unit):
                yield unit


def preamble(text, is_c):
    """Lines of the file that may stand above a unit: includes, one-line macros and variables, imports."""
    c, py = (
        r'^#\s*(include\s+[<"]|define \w+ [^\\]+$)|^static [\w *]+(\[\w+\])?;$',
        r"^(import \w|from [\w.]+ import [^(\\]+$)",
    )
    want = re.compile(c if is_c else py)
    return [s.rstrip() for s in text.splitlines() if want.match(s) and len(s) <= 80 and s.isascii()]


def statement_slots_py(lines):
    """Indices before which a statement may stand, with its indentation: the statements of function bodies."""
    text = "\n".join(lines)
    body = textwrap.dedent(text)
    try:
        tree = ast.parse(body)
    except (SyntaxError, ValueError):
        return []
    shift = len(lines[0]) - len(lines[0].lstrip())
    slots = []
    for node in ast.walk(tree):
        inside = isinstance(
            node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.If, ast.For, ast.While, ast.With, ast.Try)
        )
        for k, child in enumerate(getattr(node, "body", []) if inside else []):
            doc = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
            if not doc and not hasattr(child, "decorator_list"):
                slots.append((child.lineno - 1, " " * (child.col_offset + shift)))
    return sorted(set(slots))


END_FLOW = re.compile(r"^\s*(return|goto|break|continue|exit|abort)\b")
STATEMENT = re.compile(r"^[ \t]+(?!else\b|case\b|default\b|\}|\{|&&|\|\||\?|:|\)|#|/|\*(?!\w)|\w+:)[A-Za-z_(*]")


def statement_slots_c(lines):
    """The same for C, from layout: a line that begins a statement, after one that ends a statement or opens a block."""
    slots, depth, paren, body = [], 0, 0, False
    for i, line in enumerate(lines):
        prev = next((lines[j].rstrip() for j in range(i - 1, -1, -1) if lines[j].strip()), "")
        code = re.sub(r'"(\\.|[^"\\])*"|\'(\\.|[^\'\\])+\'', "0", line)
        if (
            depth >= 1
            and paren == 0
            and prev.endswith((";", "{", "}"))
            and STATEMENT.match(line)
            and not END_FLOW.match(prev)
        ):
            if not (prev.endswith("{") and re.search(r"\b(switch|struct|enum|union|=)\b|= *\{$", prev)):
                slots.append((i, re.match(r"[ \t]*", line).group()))
        depth += code.count("{") - code.count("}")
        paren += code.count("(") - code.count(")")
    return slots


def statement_slots(lines, is_c):
    return statement_slots_c(lines) if is_c else statement_slots_py(lines)
