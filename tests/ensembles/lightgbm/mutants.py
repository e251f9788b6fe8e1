"""Damage to LightGBM's text files, line by line and number by number."""

import re

ODD_TOKENS = (
    *(
        "-1",
        "0",
        "1",
        "2",
        "3",
        "255",
        "-128",
        "2147483647",
        "2147483648",
        "4294967296",
    ),
    *("-2147483648", "9223372036854775807", "99999999999999999999", "1e999", "-1e999"),
    *("nan", "NaN", "inf", "-inf", "1e-999", "5e-324", "1.7e308", "1e5", "+1", "01"),
    *("1_0", "0x10", "\u0663", "1.", ".5", "1,2", "1;2", "x", "", "1\t2", "1\xa02"),
    *("1" * 400, "0." + "0" * 400 + "1", "1\x00", "-", "e", "1e", "0x1p-3", "1d5"),
)
ODD_VALUES = (
    *(
        "",
        " ",
        "0",
        "1",
        "-1",
        "none",
        "binary",
        "binary sigmoid:0",
        "binary sigmoid:x",
    ),
    *("binary sigmoid:-1", "binary sigmoid:1e300", "regression sqrt", "regression"),
    *("multiclass num_class:3", "multiclass num_class:0", "multiclass num_class:99999"),
    *("multiclassova num_class:3 sigmoid:2", "lambdarank", "cross_entropy", "poisson"),
    *("a b c", "a a a", "a=b c", '[["b", "g"]]', "[[1, 2], [3]]", "null", "[[[[", "{}"),
    *("[[NaN]]", "[[1, 1]]", "[" * 100_000, "v2", "v3", "v5", "x" * 5000, "dart", "rf"),
)


def lines_of(data):
    return data.decode("utf-8", "surrogateescape").split("\n")


def bytes_of(lines):
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def on_lines(damage):
    def on_bytes(data, rng):
        lines = lines_of(data)
        damage(lines, rng)
        try:
            return bytes_of(lines)
        except UnicodeError:
            return "\n".join(lines).encode("utf-8", "replace")

    return on_bytes


def some_line(lines, rng, pattern=""):
    """A line that fits; the training parameters seldom, as nothing reads most."""
    end = next((i for i, x in enumerate(lines) if x.startswith("end of tr")), None)
    wanted = [i for i, line in enumerate(lines) if re.search(pattern, line)]
    before = [i for i in wanted if end is None or i <= end]
    if before and rng.random() < 0.9:
        wanted = before
    return wanted[rng.integers(len(wanted))] if wanted else 0


def sections(lines):
    """First and last line + 1 of the header and of every tree."""
    starts = [i for i, line in enumerate(lines) if line.startswith("Tree=")]
    ends = [i for i, line in enumerate(lines) if line.startswith("end of trees")]
    borders = [0, *starts, *(ends or [len(lines)])]
    return list(zip(borders[:-1], borders[1:]))


def line_removed(lines, rng):
    del lines[some_line(lines, rng)]


def line_repeated(lines, rng):
    at = some_line(lines, rng)
    lines[at:at] = [lines[at]] * int(rng.choice([1, 2, 2000]))


def line_moved(lines, rng):
    line = lines.pop(some_line(lines, rng))
    lines.insert(some_line(lines, rng), line)


def lines_joined(lines, rng):
    at = some_line(lines, rng)
    if at + 1 < len(lines):
        lines[at] += ["", " ", "="][rng.integers(3)] + lines.pop(at + 1)


def line_split(lines, rng):
    at = some_line(lines, rng, ".")
    where = int(rng.integers(len(lines[at]) + 1))
    ending = ["", "\r", "\x0b", "\x85", "\u2028"][rng.integers(5)]
    lines[at : at + 1] = [lines[at][:where] + ending, lines[at][where:]]


def line_of_another_tree(lines, rng):
    at = some_line(lines, rng, "=")
    key = lines[at].partition("=")[0]
    alike = [line for line in lines if line.startswith(key + "=")]
    lines[at] = alike[rng.integers(len(alike))]


def key_renamed(lines, rng):
    at, other = some_line(lines, rng, "="), some_line(lines, rng, "=")
    value = lines[at].partition("=")[2]
    key = lines[other].partition("=")[0]
    lines[at] = f"{[key, key + ' ', '', key.upper(), 'x'][rng.integers(5)]}={value}"


def value_replaced(lines, rng):
    at = some_line(lines, rng, "=|^pandas_categorical:")
    key, mark, _ = re.match("([^=:]*)([=:]?)(.*)", lines[at]).groups()
    lines[at] = key + mark + ODD_VALUES[rng.integers(len(ODD_VALUES))]


def on_tokens(damage):
    def on_line(lines, rng):
        at = some_line(lines, rng, "=.*[0-9]")
        key, _, value = lines[at].partition("=")
        tokens = value.split(" ")
        damage(tokens, rng)
        lines[at] = key + "=" + " ".join(tokens)

    return on_line


def token_odd(tokens, rng):
    tokens[rng.integers(len(tokens))] = ODD_TOKENS[rng.integers(len(ODD_TOKENS))]


def token_near(tokens, rng):
    at = int(rng.integers(len(tokens)))
    try:
        whole = int(tokens[at])
    except ValueError:
        tokens[at] = "-" + tokens[at]
        return
    tokens[at] = str([whole + 1, whole - 1, -whole, ~whole, whole * 2][rng.integers(5)])


def token_removed(tokens, rng):
    del tokens[rng.integers(len(tokens))]


def token_repeated(tokens, rng):
    at = int(rng.integers(len(tokens)))
    tokens[at:at] = [tokens[at]] * int(rng.choice([1, 1, 2, 5000]))


def tokens_swapped(tokens, rng):
    one, other = rng.integers(len(tokens), size=2)
    tokens[one], tokens[other] = tokens[other], tokens[one]


def wrong_count(lines, rng):
    at = some_line(lines, rng, "^(num_|max_|tree_sizes|cat_bound|label|Tree=)")
    key, _, value = lines[at].partition("=")
    tokens = value.split(" ")
    wrong = ["-1", "0", "1", "2", "3", "5", "9", "1000000", "2147483647", "2147483648"]
    tokens[rng.integers(len(tokens))] = wrong[rng.integers(len(wrong))]
    lines[at] = key + "=" + " ".join(tokens)


def cycle(lines, rng):
    """A child is the root, the node itself, a leaf that has a parent, or beyond."""
    at = some_line(lines, rng, "^(left|right)_child=")
    key, _, value = lines[at].partition("=")
    tokens = value.split(" ")
    node, n = int(rng.integers(len(tokens))), len(tokens)
    tokens[node] = str([0, node, int(rng.integers(-n - 2, n + 2))][rng.integers(3)])
    lines[at] = key + "=" + " ".join(tokens)


def tree_removed(lines, rng):
    parts = sections(lines)
    start, end = parts[rng.integers(len(parts))]
    del lines[start:end]


def tree_repeated(lines, rng):
    parts = sections(lines)
    (start, end), (to, _) = (parts[i] for i in rng.integers(len(parts), size=2))
    lines[to:to] = lines[start:end] * int(rng.choice([1, 3, 200]))


def long_chain(lines, rng):
    """A tree of many nodes below one another: sound, but no reader may recurse."""
    n = int(rng.choice([3, 50, 3000]))
    parts = sections(lines)[1:]
    if not parts:
        return
    start, end = parts[rng.integers(len(parts))]
    chain = {
        "num_leaves": [n + 1],
        "num_cat": [0],
        "split_feature": [0] * n,
        "split_gain": [1] * n,
        "threshold": [k - n / 2 for k in range(n)],
        "decision_type": [int(rng.choice([0, 2, 4, 8, 10]))] * n,
        "left_child": [-k - 1 for k in range(n)],
        "right_child": [k + 1 for k in range(n - 1)] + [-n - 1],
        "leaf_value": [k % 7 for k in range(n + 1)],
        "leaf_weight": [1] * (n + 1),
        "leaf_count": [1] * (n + 1),
        "internal_value": [0] * n,
        "internal_weight": [0] * n,
        "internal_count": [0] * n,
        "is_linear": [0],
        "shrinkage": [1],
    }
    written = [f"{key}={' '.join(map(str, value))}" for key, value in chain.items()]
    lines[start + 1 : end] = [*written, "", ""]


LINE_KINDS = {
    function.__name__.replace("_", " "): on_lines(function)
    for function in (
        *(line_removed, line_repeated, line_moved, lines_joined, line_split),
        *(line_of_another_tree, key_renamed, value_replaced, wrong_count, cycle),
        *(tree_removed, tree_repeated, long_chain),
    )
}
LINE_KINDS |= {
    function.__name__.replace("_", " "): on_lines(on_tokens(function))
    for function in (
        *(token_odd, token_near, token_removed, token_repeated, tokens_swapped),
    )
}


# What every sound reader accepts


def white_space(data, rng):
    """Empty lines between the sections, blanks at line ends, other line ends."""
    lines = lines_of(data)
    if rng.random() < 0.5:
        lines = [line + " " * int(rng.choice([0, 0, 1, 3])) for line in lines]
    for start, _ in reversed(sections(lines)[1:]):
        lines[start:start] = [""] * int(rng.integers(3))
    data = bytes_of(lines)
    return data.replace(b"\n", b"\r\n") if rng.random() < 0.3 else data


def line_order(data, rng):
    """The lines of every section in another order, its first line first."""
    lines = lines_of(data)
    for start, end in sections(lines):
        inside = [i for i in range(start + 1, end) if "=" in lines[i]]
        texts = [lines[i] for i in inside]
        for i, k in zip(inside, rng.permutation(len(inside))):
            lines[i] = texts[k]
    return bytes_of(lines)


def some_finite(rng):
    usual = float(rng.normal() * 10.0 ** rng.integers(-3, 4))
    numbers = [usual, usual, -1.7e308, 1.7e308, 5e-324, 0.0, -0.0, int(usual * 100)]
    return numbers[rng.integers(len(numbers))]


def one_cut(data, rng):
    lines = lines_of(data)
    numeric = []
    for start, end in sections(lines)[1:]:
        of = {x.partition("=")[0]: i for i, x in enumerate(lines[start:end], start)}
        if "decision_type" in of:
            types = lines[of["decision_type"]].partition("=")[2].split()
            numeric += [
                (of["threshold"], k)
                for k, kind in enumerate(types)
                if not int(kind) & 1
            ]
    if not numeric:
        return data
    line, at = numeric[rng.integers(len(numeric))]
    return with_number(lines, line, at, some_finite(rng))


def one_leaf(data, rng):
    lines = lines_of(data)
    found = [i for i, line in enumerate(lines) if line.startswith("leaf_value=")]
    line = found[rng.integers(len(found))]
    at = int(rng.integers(len(lines[line].split())))
    return with_number(lines, line, at, some_finite(rng))


def with_number(lines, line, at, number):
    key, _, value = lines[line].partition("=")
    tokens = value.split(" ")
    tokens[at] = repr(number)
    lines[line] = key + "=" + " ".join(tokens)
    return bytes_of(lines)


HARMLESS_LINES = {
    "white space": white_space,
    "line order": line_order,
    "cut": one_cut,
    "leaf value": one_leaf,
}
