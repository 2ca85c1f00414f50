"""words.py - which pieces are the same word: without its space, its underscores and its case;
and which words have one stem."""

import re

SPACE = "\u2581"


def word_of(piece):
    return piece.replace(SPACE, "").strip("_").lower() or piece


def stem_of(word):
    return re.sub(r"(?<=[a-z]{3})(ies|ing|ed|es|e|s|y|er|or|ion|ions)$", "", word) if len(word) > 4 else word


def numbered(keys):
    """[number of each key], how many there are."""
    known = {}
    return [known.setdefault(k, len(known)) for k in keys], len(known)


def tables(texts):
    """For the pieces' texts by id: (word of each, words), (stem of each, stems)."""
    words = [word_of(p) for p in texts]
    return numbered(words), numbered([stem_of(w) for w in words])
