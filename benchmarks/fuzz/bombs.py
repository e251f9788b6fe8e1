"""Small files that unpack to large objects: 10 MB each, made from valid ones."""

import json
import re

from tests.ensembles.seeds import seeds

SIZE = 10_000_000


def bombs(format):
    """Yield ``(kind, bytes)`` of a format."""
    if format == "lightgbm text":
        return lightgbm_bombs()
    if format == "xgboost ubjson":
        return ubjson_bombs()
    return json_bombs(format)


def json_bombs(format):
    """Long arrays of small values, in ignored and in used places."""
    data = min(seeds(format).values(), key=len)
    document = json.loads(data)
    inside = document.get("learner", document)
    inside["extra"] = "@hole@"
    text = json.dumps(document)
    for kind, value in {
        "empty objects": "{}",
        "small objects": '{"a":0}',
        "empty arrays": "[]",
        "short texts": '"ab"',
        "wide texts": '"a\U0001f600"',
        "numbers": "1e1",
        "whole numbers": "300",
    }.items():
        array = many(value, ",")
        yield f"bomb: {kind}", text.replace('"@hole@"', f"[{array}]").encode()
    keys = ",".join(f'"{i}":0' for i in range(SIZE // 10))
    yield "bomb: keys", text.replace('"@hole@"', f"{{{keys}}}").encode()
    del inside["extra"]
    wanted = (
        [("borders", "1e1"), ("values", "300"), ("cat_features_hash", '{"hash":1}')]
        if format == "catboost json"
        else [("split_conditions", "1e1"), ("tree_info", "0"), ("feature_names", '"a"')]
    )
    text = json.dumps(json.loads(dict(seeds(format))["one-hot"]))
    for key, value in wanted:
        pattern = rf'("{key}": \[)([^\]]*)\]'
        array = many(value, ",")
        new = re.sub(pattern, lambda m, a=array: m[1] + a + "]", text, count=1)
        yield f"bomb: long {key}", new.encode()


def lightgbm_bombs():
    text = seeds("lightgbm text")["category sets"].decode()
    codes = seeds("lightgbm text")["codes"].decode()
    n = SIZE // 2
    lines = {
        "leaf_value": many("1", " "),
        "split_feature": many("0", " "),
        "tree_sizes": many("0", " "),
        "feature_names": many("a", " "),
        "pandas_categorical": "[[" + ",".join(map(str, range(SIZE // 8))) + "]]",
        "objective": "x" * SIZE,
    }
    for key, value in lines.items():
        new = re.sub(rf"({key}[=:]).*", lambda m, v=value: m[1] + v, text, count=1)
        yield f"bomb: long {key}", new.encode()
    # One set of many words, each of which represents 32 categories.
    ends = re.search("cat_boundaries=(.*)", codes)[1].split()
    words = re.search("cat_threshold=(.*)", codes)[1]
    ends = " ".join([*ends[:-1], str(int(ends[-1]) + n)])
    codes = re.sub("cat_boundaries=.*", f"cat_boundaries={ends}", codes, count=1)
    codes = re.sub(
        "cat_threshold=.*",
        lambda m: f"cat_threshold={words} {many('0', ' ')}",
        codes,
        count=1,
    )
    yield "bomb: long category set", codes.encode()
    blank = text.replace("end of trees", "\n" * SIZE + "end of trees")
    yield "bomb: empty lines", blank.encode()
    stump = "Tree={}\nnum_leaves=1\nnum_cat=0\nleaf_value=1\n"
    trees = "".join(stump.format(i) for i in range(2, SIZE // 45))
    yield (
        "bomb: many trees",
        text.replace("end of trees", trees + "end of trees").encode(),
    )


def ubjson_bombs():
    data = seeds("xgboost ubjson")["two classes"]
    head = b"{L" + (7).to_bytes(8, "big") + b"learner{"
    extra = b"L" + (5).to_bytes(8, "big") + b"extra["
    for kind, value in {
        "empty arrays": b"[]",
        "empty objects": b"{}",
        "nothings": b"Z",
        "small numbers": b"i\x01",
        "short texts": b"SU\x02ab",
        "no operations": b"N",
    }.items():
        array = value * (SIZE // len(value)) + b"]"
        yield f"bomb: {kind}", data.replace(head, head + extra + array, 1)
    packed = b"$U#L" + SIZE.to_bytes(8, "big") + b"\x01" * SIZE
    yield "bomb: packed numbers", data.replace(head, head + extra + packed, 1)


def many(value, separator):
    return separator.join([value] * (SIZE // (len(value) + 1)))
