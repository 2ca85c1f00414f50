"""questions.py - what somebody might type who looks for a function: made by rule from its docstring and its name.

sentence  the first sentence, lower case, the leading verb without its s, without the marks of markup
keywords  its words that are not stop words, some left out
name      the parts of the name, sometimes with the parts of its class
raw       the first paragraph as it stands, as in an issue or a message
The language is named now and then, in front or behind, as people do in a search box.
"""

import re

import trees

STOP = set(
    "a an and any are as at be been being by can do does for from has have if in into is it its not of on or that "
    "the this to was when where which with will using use used given so such than then these those they you your we "
    "our i".split()
)
DROP = set("a an the".split())
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
MARKUP = re.compile(
    r":\w+:`~?([^`<]*?)(?:\s*<[^>]*>)?`|``([^`]*)``|`([^`<]*?)(?:\s*<[^>]*>)?`_{0,2}|"
    r"\*\*([^*]+)\*\*|(?<!\w)\*([^*\s]+)\*(?!\w)"
)


def parts(name):
    return [p.lower() for p in PART.findall(name)]


def base_verb(word):
    """returns -> return, parses -> parse, processes -> process, tries -> try."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is", "as", "ous")):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-2] if re.search(r"(ss|sh|ch|x|zz)es$", word) else word[:-1]


def first_sentence(doc):
    para = " ".join(doc.strip().split("\n\n")[0].split())
    para = MARKUP.sub(lambda m: next(g for g in m.groups() if g is not None), para)
    para = re.split(r"(?<=[a-z0-9)\]'\"])[.;:!?](?:\s|$)", para, maxsplit=1)[0]
    return para.strip().rstrip(".:;!?")


def clean(sentence):
    words = re.findall(r"[a-z0-9_.'+#/-]*[a-z0-9+#]", re.sub(r"\(.*?\)", "", sentence.lower()))[:24]
    if words:
        words[0] = base_verb(words[0])
    return words


def adorn(rng, words, language):
    """With the language (a number in trees.LANGUAGES), or with how a question begins."""
    words, share, language = list(words), 0.2 if language else 0.55, trees.LANGUAGES[language]
    if rng.random() < share:
        r = rng.random()
        words = [language] + words if r < 0.5 else words + [language] if r < 0.75 else words + ["in", language]
    if rng.random() < 0.15:
        words = ["how", "to"] + words
    return " ".join(words)


def sentence(rng, doc, language):
    words = clean(first_sentence(doc))
    if rng.random() < 0.5:
        words = [w for w in words if w not in DROP]
    return adorn(rng, words, language)


def keywords(rng, doc, language):
    words = [w for w in clean(first_sentence(doc)) if w not in STOP]
    kept = [w for w in words if rng.random() < 0.75]
    return adorn(rng, kept if len(kept) >= 2 else words, language)


def name(rng, full, language):
    """Empty when the name says too little."""
    scope, _, last = full.rpartition(".")
    if last.startswith("__") or len(parts(last)) < 2:
        return ""
    words = parts(last)
    if scope and rng.random() < 0.4:
        words += [w for w in parts(scope.rpartition(".")[2]) if w not in words]
    return adorn(rng, words, language)


def raw(doc):
    return doc.strip().split("\n\n")[0][:400]


def masked(head, full):
    """The head without its name."""
    last = full.rpartition(".")[2]
    return re.sub(rf"\b{re.escape(last)}\b", "f", head)
