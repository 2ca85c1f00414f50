"""functions.py - the function around a line of a source file, by tree-sitter's grammars as PyPI has them.

Nothing walks the whole tree: a line leads to the smallest node around it and from there upwards, so that a file of
10,000 lines costs its parse and no more. What counts as a function is one that has a name (or is bound to one); the
outermost that is not longer than MAX_LINES is taken, because a fault is judged with the code around it.
"""

import re

import tree_sitter
import tree_sitter_c
import tree_sitter_cpp
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_python
import tree_sitter_typescript

MAX_LINES, MIN_LINES, MAX_CALLEES = 200, 3, 12
LANGUAGES = {
    "c": (tree_sitter_c.language, [".c", ".h"]),
    "cpp": (tree_sitter_cpp.language, [".cc", ".cpp", ".cxx", ".hpp", ".hh", ".hxx", ".ipp"]),
    "python": (tree_sitter_python.language, [".py"]),
    "javascript": (tree_sitter_javascript.language, [".js", ".mjs", ".cjs", ".jsx"]),
    "typescript": (tree_sitter_typescript.language_typescript, [".ts"]),
    "tsx": (tree_sitter_typescript.language_tsx, [".tsx"]),
    "go": (tree_sitter_go.language, [".go"]),
    "java": (tree_sitter_java.language, [".java"]),
}
OF_SUFFIX = {suffix: name for name, (_, suffixes) in LANGUAGES.items() for suffix in suffixes}
FUNCTIONS = {
    "function_definition", "function_declaration", "generator_function_declaration", "method_definition",
    "method_declaration", "constructor_declaration",
}  # fmt: skip
VALUES = {"arrow_function", "function_expression", "generator_function", "func_literal"}
BOUND = {
    "variable_declarator": "name", "assignment_expression": "left", "pair": "key", "public_field_definition": "name",
}  # fmt: skip
CALLS = {"call_expression": "function", "call": "function", "method_invocation": "name"}
PARSERS = {}
CPP_HEADER = re.compile(rb"^\s*(class\s+\w+|namespace\b|template\s*<|public:|private:)", re.M)


def language_of(path, data=b""):
    """The name of a file's language or None; a header that has classes is C++."""
    dot = path.rfind(".")
    name = OF_SUFFIX.get(path[dot:].lower()) if dot > 0 else None
    return "cpp" if name == "c" and path.endswith(".h") and CPP_HEADER.search(data) else name


def parse(data, language):
    if language not in PARSERS:
        PARSERS[language] = tree_sitter.Parser(tree_sitter.Language(LANGUAGES[language][0]()))
    return PARSERS[language].parse(data)


def text_of(node):
    return node.text.decode("utf-8", "replace") if node else ""


def name_of(node):
    """The name of a function or None: for C the innermost name of the declarator."""
    if node.type in VALUES:
        parent = node.parent
        field = BOUND.get(parent.type) if parent else None
        left = parent.child_by_field_name(field) if field else None
        last = re.findall(r"[A-Za-z_$#][\w$]*", text_of(left))
        return last[-1] if last else None
    if node.type not in FUNCTIONS:
        return None
    at = node.child_by_field_name("name") or node.child_by_field_name("declarator")
    while at and at.child_by_field_name("declarator"):
        at = at.child_by_field_name("declarator")
    return text_of(at)[:120] or None


def around(tree, row):
    """(name, first row, last row, node) of the function around a row (from 0), or None."""
    node = tree.root_node.descendant_for_point_range((row, 0), (row, 10_000))
    best = None
    while node:
        name = name_of(node)
        first, last = node.start_point[0], node.end_point[0]
        if name and first <= row <= last and MIN_LINES <= last - first + 1 <= MAX_LINES:
            best = (name, first, last, node)
        node = node.parent
    return best


def every(tree):
    """(name, first row, last row, node) of all functions that are not within another."""
    stack = [tree.root_node]
    while stack:
        node = stack.pop()
        name = name_of(node)
        if name:
            yield name, node.start_point[0], node.end_point[0], node
        else:
            stack += reversed(node.named_children)


def calls_of(node):
    """Names of the functions that a function calls, in the order of their first call."""
    names, stack = {}, [node]
    while stack:
        at = stack.pop()
        field = CALLS.get(at.type)
        if field:
            last = re.findall(r"[A-Za-z_$][\w$]*", text_of(at.child_by_field_name(field))[-120:])
            if last:
                names.setdefault(last[-1])
        stack += reversed(at.named_children)
    return list(names)


def signatures(tree, lines, names):
    """One-line heads of those of the named functions that the file defines."""
    wanted, found = set(names), []
    for name, first, _, node in every(tree):
        if name in wanted and len(found) < MAX_CALLEES:
            body = node.child_by_field_name("body")
            last = min(body.start_point[0] if body else first, first + 4, len(lines) - 1)
            head = " ".join(s.strip() for s in lines[first : last + 1]).split("{")[0].strip()
            found.append(head[:200])
    return found
