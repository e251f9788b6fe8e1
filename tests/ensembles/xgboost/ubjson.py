"""A small UBJSON decoder and encoder for the tests, written apart from the reader.

It knows what XGBoost writes and the rest of draft 12 as far as damaged files can
hold it. Slow and plain: a position in bytes, one value after the other.
"""

import struct

INTEGERS = {"i": "b", "U": "B", "I": "h", "u": "H", "l": "i", "m": "I", "L": "q"}
NUMBERS = {**INTEGERS, "d": "f", "D": "d"}
MARKERS = [*NUMBERS, *"ZNTFCSH[]{}$#", "M", "x"]


def decode(data):
    """``(document, hints, lengths, markers)``.

    ``hints`` maps a key to the marker of its value or of the values of its array;
    ``lengths`` and ``markers`` are the positions of all 8-byte lengths and of all
    markers of values.
    """
    hints, lengths, markers = {}, [], []
    at = 0

    def take(n):
        nonlocal at
        if n < 0 or at + n > len(data):
            raise ValueError("ends too early")
        at += n
        return data[at - n : at]

    def skip_nothing():
        nonlocal at
        while data[at : at + 1] == b"N":
            at += 1

    def marker():
        skip_nothing()
        markers.append(at)
        return take(1).decode("latin-1")

    def number(kind):
        form = ">" + NUMBERS[kind]
        return struct.unpack(form, take(struct.calcsize(form)))[0]

    def length():
        skip_nothing()
        kind = take(1).decode("latin-1")
        if kind == "L":
            lengths.append(at)
        if kind not in INTEGERS:
            raise ValueError(f"length of kind {kind!r}")
        return number(kind)

    def text():
        return take(length()).decode("utf-8")

    def value(kind, key):
        if kind in NUMBERS:
            hints.setdefault(key, kind)
            return number(kind)
        if kind in "ZTF":
            return {"Z": None, "T": True, "F": False}[kind]
        if kind == "C":
            return take(1).decode("ascii")
        if kind == "S":
            return text()
        if kind == "[":
            return array(key)
        if kind == "{":
            return members()
        raise ValueError(f"marker {kind!r}")

    def head():
        """Type and count of a container, None where it does not tell."""
        kind = count = None
        skip_nothing()
        if data[at : at + 1] == b"$":
            take(1)
            kind = marker()
        skip_nothing()
        if data[at : at + 1] == b"#":
            take(1)
            count = length()
        if kind is not None and (count is None or kind in "ZTFN"):
            raise ValueError("a type without a count, or without bytes")
        if count is not None and not 0 <= count <= len(data) - at:
            raise ValueError("a negative count, or one beyond the end")
        return kind, count

    def ended(closing, count, done):
        if count is not None:
            return done == count
        skip_nothing()
        if data[at : at + 1] == closing:
            take(1)
            return True
        return False

    def array(key):
        kind, count = head()
        if kind is not None:
            hints[key] = "$" + kind
        result = []
        while not ended(b"]", count, len(result)):
            result.append(value(kind or marker(), key))
        return result

    def members():
        kind, count = head()
        result, done = {}, 0
        while not ended(b"}", count, done):
            skip_nothing()
            key = text()
            if key in result:
                raise ValueError(f"key {key!r} twice")
            result[key] = value(kind or marker(), key)
            done += 1
        return result

    document = value(marker(), "")
    skip_nothing()
    if at != len(data):
        raise ValueError("more after the end")
    return document, hints, lengths, markers


def encode(document, hints):
    """Bytes of a document: in the types of ``hints`` where they fit."""
    parts = []

    def length(n):
        return b"L" + n.to_bytes(8, "big")

    def text(string):
        raw = string.encode("utf-8", "surrogatepass")
        return length(len(raw)) + raw

    def packed(kind, number):
        return struct.pack(">" + NUMBERS[kind], number)

    def put_number(number, hint):
        if isinstance(number, float):
            candidates = ["d"] if hint.endswith("d") else ["D"]
        else:
            candidates = [hint[-1:], *"iUIlL"]
        for kind in [*candidates, "D"]:
            try:
                parts.append(kind.encode() + packed(kind, number))
            except (struct.error, KeyError, OverflowError):
                continue
            return
        parts.append(b"S" + text(str(number)))

    def put_array(array, key):
        hint = hints.get(key, "")
        if hint.startswith("$"):
            kind = hint[1:]
            try:
                body = b"".join(packed(kind, number) for number in array)
                parts.append(b"[$" + kind.encode() + b"#" + length(len(array)) + body)
                return
            except (struct.error, KeyError, OverflowError):
                pass
        parts.append(b"[#" + length(len(array)))
        for item in array:
            put(item, key)

    def put(value, key):
        if value is None or isinstance(value, bool):
            parts.append({None: b"Z", True: b"T", False: b"F"}[value])
        elif isinstance(value, int | float):
            put_number(value, hints.get(key, ""))
        elif isinstance(value, str):
            parts.append(b"S" + text(value))
        elif isinstance(value, list):
            put_array(value, key)
        else:
            parts.append(b"{")
            for name, member in value.items():
                parts.append(text(name))
                put(member, name)
            parts.append(b"}")

    put(document, "")
    return b"".join(parts)
