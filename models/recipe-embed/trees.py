"""trees.py - functions and types of JavaScript, TypeScript, Go, Rust, Java and Ruby with the comment above each,
read by tree-sitter's grammars as PyPI has them.

A definition that stands in a function which has a name itself is not listed; one in a wrapper without a name is, as
bundles of JavaScript are written. The comment is the text between the definition and the code before it; marks of
comments, HTML and tags such as {@link X} are taken out, and a line that begins with @ begins a paragraph.
"""

import re

import tree_sitter
import tree_sitter_go
import tree_sitter_java
import tree_sitter_javascript
import tree_sitter_ruby
import tree_sitter_rust
import tree_sitter_typescript

MAX_BODY, CLASS_LINES, MAX_DEPTH = 1600, 12, 40
LANGUAGES = ["python", "c", "javascript", "typescript", "go", "rust", "java", "ruby"]  # a row holds the number
GRAMMARS = {
    ".js": (2, tree_sitter_javascript.language()),
    ".mjs": (2, tree_sitter_javascript.language()),
    ".ts": (3, tree_sitter_typescript.language_typescript()),
    ".go": (4, tree_sitter_go.language()),
    ".rs": (5, tree_sitter_rust.language()),
    ".java": (6, tree_sitter_java.language()),
    ".rb": (7, tree_sitter_ruby.language()),
}
FUNCTIONS = {
    "function_declaration", "generator_function_declaration", "method_definition", "method_declaration",
    "function_item", "method", "singleton_method", "macro_definition",
}  # fmt: skip
TYPES = {
    "class_declaration", "abstract_class_declaration", "interface_declaration", "enum_declaration", "type_spec",
    "struct_item", "enum_item", "trait_item", "class", "module",
}  # fmt: skip
VALUES = {"arrow_function", "function_expression", "function"}
SCOPES = TYPES | {"impl_item"}
AROUND = {"export_statement", "expression_statement", "lexical_declaration", "variable_declaration", "type_declaration"}
COMMENTS = {"comment", "line_comment", "block_comment"}
BETWEEN = {"attribute_item", "decorator"}
MARK = re.compile(r"^\s*(///?!?|//!|/\*+!?|\*+/|\*(?!\*)|#+)[ \t]?|\s*\*+/\s*$")
TAG = re.compile(r"\{@\w+\s+([^}]*)\}|</?[A-Za-z][^<>]{0,80}>")
PARSERS = {}


def parser(suffix):
    if suffix not in PARSERS:
        PARSERS[suffix] = tree_sitter.Parser(tree_sitter.Language(GRAMMARS[suffix][1]))
    return PARSERS[suffix]


def text_of(node):
    return node.text.decode("utf-8", "replace") if node else ""


def clean_comment(text):
    out = []
    for line in text.splitlines():
        line = MARK.sub("", MARK.sub("", line)).rstrip()
        if line.lstrip().startswith("@") and out and out[-1]:
            out.append("")
        out.append(TAG.sub(lambda m: (m.group(1) or "").replace("#", " "), line))
    return "\n".join(out).strip()


def last_row(node):
    row, column = node.end_point
    return row - (column == 0 and row > node.start_point[0])  # Rust's comments hold the end of their line


def comment_above(node):
    """The comments right above a node, attributes between them left out; the nearest may stand a free line above."""
    top = node
    while top.parent and top.parent.type in AROUND:
        top = top.parent
    row, parts, before = top.start_point[0], [], top.prev_named_sibling
    while before and before.type in COMMENTS | BETWEEN and row - last_row(before) <= (2 if not parts else 1):
        if before.type in COMMENTS:
            if before.prev_named_sibling and last_row(before.prev_named_sibling) == before.start_point[0]:
                break  # it stands behind code
            parts.append(text_of(before).rstrip("\n"))
        row, before = before.start_point[0], before.prev_named_sibling
    return clean_comment("\n".join(reversed(parts)))


def scope_of(node):
    node = node.parent
    while node:
        if node.type in SCOPES:
            return text_of(node.child_by_field_name("name") or node.child_by_field_name("type")).split("<")[0]
        node = node.parent
    return ""


def receiver_of(node):
    """Go's: func (p *Parser) Next() is Parser.Next."""
    found = re.search(r"(\w+)(\[[^]]*\])?\s*\)$", text_of(node.child_by_field_name("receiver")))
    return found.group(1) if found else ""


def named(node):
    """(name, node of the body, is a type) of a definition, or None."""
    name = node.child_by_field_name("name")
    if node.type in FUNCTIONS and name:
        return text_of(name), node.child_by_field_name("body"), False
    if node.type in TYPES and name:
        return text_of(name), node.child_by_field_name("body") or node.child_by_field_name("type"), True
    left = {"variable_declarator": "name", "assignment_expression": "left", "pair": "key"}.get(node.type)
    value = node.child_by_field_name("right" if node.type == "assignment_expression" else "value")
    if left and value and value.type in VALUES:
        last = re.findall(r"[A-Za-z_$][\w$]*", text_of(node.child_by_field_name(left)))
        if last:
            return last[-1], value.child_by_field_name("body"), False
    return None


def definitions(root):
    """(node, name, body, is a type), from top to bottom."""
    stack = [(root, 0)]
    while stack:
        node, depth = stack.pop()
        found = named(node)
        if found:
            yield node, *found
        if depth < MAX_DEPTH and not (found and not found[2]):
            stack += [(c, depth + 1) for c in reversed(node.named_children)]


def rows(text, suffix):
    """Rows of pairs.py for one file."""
    language = GRAMMARS[suffix][0]
    data = text.encode()
    lines = text.split("\n")
    for node, name, body, is_type in definitions(parser(suffix).parse(data).root_node):
        first, last = node.start_point[0], node.end_point[0]
        split = min(body.start_point[0] if body else last, last)
        inside = lines[split + 1 : last + 1]
        if not is_type and not inside:  # all on one line
            inside = lines[last : last + 1]
        scope = receiver_of(node) if language == 4 else scope_of(node)
        doc = comment_above(node)
        if language == 4:  # "Parse reads ..." begins with the name by convention
            doc = re.sub(rf"^{re.escape(name)}\s+(is\s+|are\s+)?", "", doc)
        yield {
            "name": f"{scope}.{name}" if scope else name,
            "doc": doc,
            "head": "\n".join(s.strip() for s in lines[first : split + 1])[:600],
            "body": "\n".join(inside[:CLASS_LINES] if is_type else inside)[:MAX_BODY],
            "c": language,
            "type": is_type,
        }
