"""Damaged model files for the readers: made from good ones, with their structure.

``mutants`` damages, ``harmless`` changes what a reader must take. Both are endless:
kind after kind in turn, each time at another random place.
"""

import json
import re

import numpy as np
from tests.ensembles.lightgbm.mutants import HARMLESS_LINES, LINE_KINDS
from tests.ensembles.xgboost.ubjson import MARKERS, decode, encode

FORMATS = ("xgboost json", "xgboost ubjson", "lightgbm text", "catboost json")
STORED = ("pmml", "r csv")
"""Formats without a plain interpreter, whose sound files are stored."""

ODD_NUMBERS = (
    *(-1, 0, 1, 2, 3, 0.5, -0.0, 1e-45, 5e-324, 3.5e38, -1e300, 1.7e308),
    *(127, 255, 256, 32767, 65536, 16777217, 2**31 - 2, 2**31 - 1, 2**31, -(2**31)),
    *(2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63, -(2**63), 2**64, 10**30),
    *(float("nan"), float("inf"), float("-inf")),
)
ODD_TEXTS = (
    *("", "0", "-1", "1", "2", "5E-1", "[5E-1]", "[5E-1,1E0]", "[]", "[nan]", "nan"),
    *("NaN", "inf", "1e999", "99999999999999999999", "1_0", " 1", "1 ", "\u0663"),
    *("\x00", "a" * 5000, "=", "\n", "gbtree", "gblinear", "dart", "gbdt"),
    *("reg:squarederror", "binary:logistic", "multi:softprob", "count:poisson"),
    *("rank:ndcg", "binary:hinge", "reg:logistic", "survival:cox", "binary", "rf"),
    *("float", "int", "c", "i", "q", "FloatFeature", "OneHotFeature", "OnlineCtr"),
    *("AsIs", "AsTrue", "AsFalse", "RMSE", "Logloss", "MultiClass", "CrossEntropy"),
)
ODD_SPELLINGS = (
    *("-", "+1", "01", "1.", ".5", "1e", "1e999", "-1e999", "0x10", "1_0", "1e-999"),
    *("NaN", "Infinity", "-Infinity", "nan", "null", "true", "1 2", "1,2", "\uff11"),
    *("9" * 400, "9" * 5000, "1" + "0" * 350 + ".5", "0." + "0" * 400 + "1"),
    *('"1"', "[1]", "{}", "1/*c*/", "'1'", "2147483648", "-2147483649", "1e5", "1.0"),
)
CANNOT_DAMAGE = (ValueError, LookupError, TypeError, ArithmeticError, RecursionError)
"""What a mutator may raise that is handed a damaged file."""
HOLE = "@hole@"
"""Stands where bytes are put in that no encoder writes."""


def mutants(format, data, rng):
    """Endless ``(kind, bytes)``: the file damaged in one or two places."""
    kinds = KINDS[format]
    while True:
        for kind, damage in kinds.items():
            yield kind, damage(data, rng)
        names = rng.choice(list(kinds), size=2)
        both = data
        for name in names:
            # The first damage may have left nothing that the second understands.
            try:
                both = kinds[name](both, rng)
            except CANNOT_DAMAGE:
                both = flipped(both, rng)
        yield "two kinds", both


def harmless(format, data, rng):
    """Endless ``(kind, bytes)`` that every sound reader accepts."""
    while True:
        for kind, change in HARMLESS[format].items():
            yield kind, change(data, rng)


# Damage to bytes, for all formats


def some_span(data, rng, longest=40):
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(rng.integers(1, longest)))


def flipped(data, rng):
    data = bytearray(data or b"x")
    for at in rng.integers(len(data), size=rng.choice([1, 1, 1, 3, 20])):
        data[at] ^= 1 << int(rng.integers(8))
    return bytes(data)


def overwritten(data, rng):
    start, end = some_span(data, rng, 9)
    filler = [b"\x00", b"\xff", b"\x80", b" ", b"9", b"-", rng.bytes(1)]
    return data[:start] + filler[rng.integers(7)] * (end - start) + data[end:]


def truncated(data, rng):
    return data[: rng.integers(len(data) + 1)]


def span_deleted(data, rng):
    start, end = some_span(data, rng, int(rng.choice([4, 40, 400])))
    return data[:start] + data[end:]


def span_repeated(data, rng):
    start, end = some_span(data, rng, int(rng.choice([4, 40, 400])))
    times = int(rng.choice([2, 2, 3, 50]))
    return data[:start] + data[start:end] * times + data[end:]


def span_moved(data, rng):
    start, end = some_span(data, rng)
    rest, to = data[:start] + data[end:], int(rng.integers(len(data) + 1))
    return rest[:to] + data[start:end] + rest[to:]


def bytes_put_in(data, rng):
    at = int(rng.integers(len(data) + 1))
    return data[:at] + rng.bytes(int(rng.integers(1, 9))) + data[at:]


def wrapped(data, rng):
    """Something before, after or around the whole."""
    whole = [
        b"\xef\xbb\xbf" + data,
        data + b"\x00" * 100,
        data + data,
        b"\n" + data,
        data + b"\n" * 1000,
        b"[" + data + b"]",
        data.decode("latin-1").encode("utf-16"),
        data[::-1],
        data + b"}",
        b"",
    ]
    return whole[rng.integers(len(whole))]


BYTE_KINDS = {
    "bits flipped": flipped,
    "bytes overwritten": overwritten,
    "truncated": truncated,
    "span deleted": span_deleted,
    "span repeated": span_repeated,
    "span moved": span_moved,
    "bytes put in": bytes_put_in,
    "wrapped": wrapped,
}


def number_spelled_oddly(data, rng):
    """In a text: one number in another spelling, huge, or swapped for another."""
    numbers = list(re.finditer(rb"(?<![\w.])-?\d[\d.]*(?:[eE][-+]?\d+)?", data))
    if not numbers:
        return data
    at, other = (numbers[i] for i in rng.integers(len(numbers), size=2))
    odd = ODD_SPELLINGS[rng.integers(len(ODD_SPELLINGS))].encode()
    new = odd if rng.random() < 0.7 else other.group()
    return data[: at.start()] + new + data[at.end() :]


# Damage to parsed documents: JSON and UBJSON


def places(document):
    """All ``(container, key)`` of a document of dicts and lists."""
    found, stack = [], [document]
    while stack:
        value = stack.pop()
        keys = list(value) if isinstance(value, dict) else range(len(value))
        for key in keys:
            found.append((value, key))
            if isinstance(value[key], dict | list):
                stack.append(value[key])
    return found


def some_place(document, rng, wanted=lambda value: True):
    """A random place: any of all, or found going down, which favours small branches."""
    if rng.random() < 0.5:
        value = document
        while isinstance(value, dict | list) and value:
            keys = list(value) if isinstance(value, dict) else range(len(value))
            container, key = value, keys[rng.integers(len(keys))]
            value = container[key]
            if wanted(value) and (rng.random() < 0.3 or not is_container(value)):
                return container, key
    fitting = [(c, k) for c, k in places(document) if wanted(c[k])]
    return fitting[rng.integers(len(fitting))]


def is_container(value):
    return isinstance(value, dict | list)


def is_number(value):
    if isinstance(value, str):
        return re.fullmatch(r"\[?-?\d+(\.\d+)?([eE][-+]?\d+)?\]?", value) is not None
    return isinstance(value, int | float)


def as_found(value, number):
    """The number written as the found value was: as number or as text."""
    if not isinstance(value, str):
        return number
    return f"[{number}]" if value.startswith("[") else str(number)


def odd_number(document, rng):
    container, key = some_place(document, rng, is_number)
    number = ODD_NUMBERS[rng.integers(len(ODD_NUMBERS))]
    container[key] = as_found(container[key], number)


def near_number(document, rng):
    container, key = some_place(document, rng, is_number)
    value = container[key]
    number = float(value.strip("[]")) if isinstance(value, str) else value
    if float(number).is_integer():
        number = int(number)
    step = [number + 1, number - 1, -number, number * 2, number + 0.5]
    container[key] = as_found(value, step[rng.integers(5)])


def wrong_count(document, rng):
    counts = re.compile("num|count|size|offset|segment|indptr|index|info|id$|version")
    fitting = [
        (c, k)
        for c, k in places(document)
        if isinstance(k, str) and counts.search(k) and (is_number(c[k]) or c[k])
    ]
    container, key = fitting[rng.integers(len(fitting))]
    while isinstance(container[key], list) and container[key]:
        container, key = container[key], int(rng.integers(len(container[key])))
    if is_number(container[key]):
        wrong = [-1, 0, 1, 2, 4, 7, 100, 10**6, 2**31 - 1, 2**31, 2**62][
            rng.integers(11)
        ]
        container[key] = as_found(container[key], wrong)


def cycle(document, rng):
    """An array of integers points back, to itself or anywhere in it."""

    def points(value):
        whole = isinstance(value, list) and len(value) > 1
        return whole and all(isinstance(v, int) for v in value)

    container, key = some_place(document, rng, points)
    array = container[key]
    at = int(rng.integers(len(array)))
    array[at] = [at, 0, int(rng.integers(len(array))), len(array)][rng.integers(4)]


def other_type(document, rng):
    container, key = some_place(document, rng)
    value = container[key]
    others = [None, True, False, [], {}, [value], {"a": value}, str(value)[:50], 0, 1.5]
    container[key] = others[rng.integers(len(others))]


def other_text(document, rng):
    container, key = some_place(document, rng, lambda value: isinstance(value, str))
    container[key] = ODD_TEXTS[rng.integers(len(ODD_TEXTS))]


def removed(document, rng):
    container, key = some_place(document, rng)
    del container[key]


def repeated(document, rng):
    container, key = some_place(document, rng)
    if isinstance(container, list):
        times = int(rng.choice([1, 1, 2, 10, 3000]))
        container[key:key] = [container[key]] * times
    else:
        container[f"{key}2"] = container[key]


def swapped(document, rng):
    (c1, k1), (c2, k2) = some_place(document, rng), some_place(document, rng)
    if rng.random() < 0.5 and isinstance(c1, list):
        c2, k2 = c1, int(rng.integers(len(c1)))
    one, two = json.loads(json.dumps([c1[k1], c2[k2]]))
    c1[k1], c2[k2] = two, one


def grafted(document, rng):
    """A piece in place of another, of the same name or of any."""
    container, key = some_place(document, rng)
    alike = [(c, k) for c, k in places(document) if k == key]
    other = some_place(document, rng) if rng.random() < 0.5 else None
    c2, k2 = other or alike[rng.integers(len(alike))]
    container[key] = json.loads(json.dumps(c2[k2]))


def renamed(document, rng):
    container, key = some_place(document, rng)
    if isinstance(container, dict):
        names = [k for _, k in places(document) if isinstance(k, str)]
        container[names[rng.integers(len(names))]] = container.pop(key)
    elif len(container) > 1:
        container.pop(key)


def twin_key(document, rng):
    """The same name twice in one object, with two values."""
    objects = [c for c, k in places(document) if isinstance(c, dict)]
    container = objects[rng.integers(len(objects))]
    key = list(container)[rng.integers(len(container))]
    stand_in = "@" * len(key.encode())
    container[stand_in] = [container[key], 0, None, "1"][rng.integers(4)]
    return stand_in.encode(), key.encode()


def nested(document, rng):
    container, key = some_place(document, rng)
    container[key] = HOLE
    depth = int(rng.choice([5, 60, 600, 20_000, 200_000]))
    return depth, int(rng.integers(3)), rng.random() < 0.5


DOCUMENT_KINDS = {
    "odd number": odd_number,
    "near number": near_number,
    "wrong count": wrong_count,
    "cycle": cycle,
    "other type": other_type,
    "other text": other_text,
    "removed": removed,
    "repeated": repeated,
    "swapped": swapped,
    "grafted": grafted,
    "renamed": renamed,
}


def on_json(damage):
    def on_bytes(data, rng):
        document = json.loads(data)
        damage(document, rng)
        return json.dumps(document).encode()

    return on_bytes


def json_twin_key(data, rng):
    document = json.loads(data)
    stand_in, key = twin_key(document, rng)
    return json.dumps(document).encode().replace(stand_in, key)


def json_nested(data, rng):
    document = json.loads(data)
    depth, kind, closed = nested(document, rng)
    opening, close = [(b"[", b"]"), (b'{"a":', b"}"), (b'{"left":', b"}")][kind]
    nest = opening * depth + b"1" + close * depth * closed
    return json.dumps(document).encode().replace(f'"{HOLE}"'.encode(), nest)


JSON_KINDS = {
    **BYTE_KINDS,
    **{kind: on_json(damage) for kind, damage in DOCUMENT_KINDS.items()},
    "twin key": json_twin_key,
    "nested": json_nested,
    "number spelled oddly": number_spelled_oddly,
}


# UBJSON: the document, and its markers and lengths


def on_ubjson(damage):
    def on_bytes(data, rng):
        document, hints = decode(data)[:2]
        damage(document, rng)
        if rng.random() < 0.1:
            hints = {}
        return encode(document, hints)

    return on_bytes


def ubjson_twin_key(data, rng):
    document, hints = decode(data)[:2]
    stand_in, key = twin_key(document, rng)
    return encode(document, hints).replace(stand_in, key)


def ubjson_nested(data, rng):
    document, hints = decode(data)[:2]
    depth, kind, closed = nested(document, rng)
    one = (1).to_bytes(8, "big")
    opening = [b"[", b"{L" + one + b"a", b"[#L" + one][kind]
    close = [b"]", b"}", b""][kind]
    nest = opening * depth + b"Z" + close * depth * closed
    hole = b"SL" + len(HOLE).to_bytes(8, "big") + HOLE.encode()
    return encode(document, hints).replace(hole, nest)


def wrong_length(data, rng):
    lengths = decode(data)[2]
    at = lengths[rng.integers(len(lengths))]
    length = int.from_bytes(data[at : at + 8], "big")
    wrong = [0, length + 1, length - 1, length * 2, -1, 2**31, 2**62, 2**63 - 1, 10**7]
    wrong.append(len(data))
    new = wrong[rng.integers(len(wrong))]
    return data[:at] + new.to_bytes(8, "big", signed=True) + data[at + 8 :]


def wrong_marker(data, rng):
    markers = decode(data)[3]
    at = markers[rng.integers(len(markers))]
    new = rng.choice([m.encode() for m in MARKERS])
    return data[:at] + bytes(new) + data[at + 1 :]


def bomb(data, rng):
    """Arrays that promise much and take no or little room in the file."""
    document, hints = decode(data)[:2]
    container, key = some_place(document, rng)
    container[key] = HOLE
    count = int(rng.choice([3, 10**6, 10**9, 2**40, 2**62])).to_bytes(8, "big")
    marker = bytes(rng.choice([m.encode() for m in MARKERS]))
    start = [b"[$" + marker + b"#L" + count, b"[#L" + count, b"{$" + marker + b"#L"]
    start += [b"{#L" + count, b"SL" + count, b"HL" + count, b"[$L" + count, b"[#["]
    hole = b"SL" + len(HOLE).to_bytes(8, "big") + HOLE.encode()
    return encode(document, hints).replace(hole, start[rng.integers(len(start))])


UBJSON_KINDS = {
    **BYTE_KINDS,
    **{kind: on_ubjson(damage) for kind, damage in DOCUMENT_KINDS.items()},
    "twin key": ubjson_twin_key,
    "nested": ubjson_nested,
    "wrong length": wrong_length,
    "wrong marker": wrong_marker,
    "bomb": bomb,
}


# What every sound reader accepts


def json_white_space(data, rng):
    tokens = re.findall(rb'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+', data)
    blanks = [b"", b"", b" ", b"\n", b"\r\n", b"\t", b"   "]
    chosen = rng.integers(len(blanks), size=len(tokens) + 1)
    pieces = [blanks[chosen[0]]]
    for token, blank in zip(tokens, chosen[1:]):
        pieces += [token, blanks[blank]]
    return b"".join(pieces)


def members_shuffled(document, rng):
    for value in [document] + [c[k] for c, k in places(document)]:
        if isinstance(value, dict):
            members = list(value.items())
            value.clear()
            value.update(members[i] for i in rng.permutation(len(members)))


def some_finite(rng, single):
    """A finite number: usual, tiny, huge, whole or zero."""
    usual = float(rng.normal() * 10.0 ** rng.integers(-3, 4))
    most, least = (3.4028234663852886e38, 1e-45) if single else (1.7e308, 5e-324)
    numbers = [usual, usual, -most, most, least, 0.0, -0.0, int(usual * 100)]
    return numbers[rng.integers(len(numbers))]


def xgboost_number(is_leaf):
    """One cut or one leaf value of an XGBoost document."""

    def change(document, rng):
        booster = document["learner"]["gradient_booster"]
        trees = booster.get("gbtree", booster)["model"]["trees"]
        found = []
        for tree in trees:
            for node, child in enumerate(tree["left_children"]):
                categorical = tree["split_type"][node] == 1 and child != -1
                if (child == -1) == is_leaf and not categorical:
                    found.append((tree, node))
        if found:
            tree, node = found[rng.integers(len(found))]
            new = some_finite(rng, single=True)
            tree["split_conditions"][node] = new
            if is_leaf:
                tree["base_weights"][node] = new

    return change


def catboost_leaf(document, rng):
    leaves = [(c, k) for c, k in places(document.get("trees", [])) if k == "value"]
    leaves = [(c, k) for c, k in leaves if "weight" in c]
    for tree in document.get("oblivious_trees", []):
        leaves += [(tree["leaf_values"], i) for i in range(len(tree["leaf_values"]))]
    container, key = leaves[rng.integers(len(leaves))]
    new = some_finite(rng, single=False)
    if isinstance(container[key], list):
        container[key][rng.integers(len(container[key]))] = new
    else:
        container[key] = new


def catboost_cut(document, rng):
    """One border that is asked about; it stays between its neighbours."""
    splits = [c for c, k in places(document) if k == "border" and "split_type" in c]
    if not splits:
        return
    split = splits[rng.integers(len(splits))]
    index, old = split["float_feature_index"], split["border"]
    borders = document["features_info"]["float_features"][index]["borders"]
    at = borders.index(old)
    low = borders[at - 1] if at else -3.4e38
    high = borders[at + 1] if at + 1 < len(borders) else 3.4e38
    new = some_finite(rng, single=True)
    if not low < new < high:
        new = float(np.float32(low / 2 + high / 2))
    borders[at] = new
    for other in splits:
        if (other["float_feature_index"], other["border"]) == (index, old):
            other["border"] = new


HARMLESS = {
    "xgboost json": {
        "white space": json_white_space,
        "key order": on_json(members_shuffled),
        "cut": on_json(xgboost_number(is_leaf=False)),
        "leaf value": on_json(xgboost_number(is_leaf=True)),
    },
    "xgboost ubjson": {
        "key order": on_ubjson(members_shuffled),
        "cut": on_ubjson(xgboost_number(is_leaf=False)),
        "leaf value": on_ubjson(xgboost_number(is_leaf=True)),
    },
    "lightgbm text": HARMLESS_LINES,
    "catboost json": {
        "white space": json_white_space,
        "key order": on_json(members_shuffled),
        "cut": on_json(catboost_cut),
        "leaf value": on_json(catboost_leaf),
    },
}
TEXT_KINDS = {**BYTE_KINDS, "number spelled oddly": number_spelled_oddly}
OF_LINES = ("line removed", "line repeated", "line moved", "lines joined", "line split")
KINDS = {
    "xgboost json": JSON_KINDS,
    "xgboost ubjson": UBJSON_KINDS,
    "catboost json": JSON_KINDS,
    "lightgbm text": TEXT_KINDS | LINE_KINDS,
    **dict.fromkeys(STORED, TEXT_KINDS | {name: LINE_KINDS[name] for name in OF_LINES}),
}
