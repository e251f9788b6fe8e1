"""The hash by which CatBoost's model files identify a category.

A file saved without its training data holds no texts, only the low 32 bits of version
1.0 of CityHash64, which differs from later versions. Only what CatBoost uses is here.
"""

from __future__ import annotations

MASK = 2**64 - 1
K0 = 0xC3A5C85C97CB3127
K1 = 0xB492B66FBE98F273
K2 = 0x9AE16A3B2F90404F
K3 = 0xC949D7C7509E6557
K128 = 0x9DDFEA08EB382D69


def category_hash(text: str) -> int:
    """Hash of a category's text, from 0 to 2**32 - 1.

    Parameters
    ----------
    text : str

    Returns
    -------
    int

    Examples
    --------
    >>> category_hash("x"), category_hash("")
    (3510494104, 797982799)
    """
    # A lone surrogate, which no text file holds, has no UTF-8 encoding.
    return _city64(text.encode(errors="surrogatepass")) & 0xFFFFFFFF


def _city64(s: bytes) -> int:
    if len(s) <= 16:
        return _up_to_16(s)
    if len(s) <= 32:
        return _up_to_32(s)
    return _up_to_64(s) if len(s) <= 64 else _longer(s)


def _up_to_16(s: bytes) -> int:
    n = len(s)
    if n > 8:
        b = _word(s, n - 8)
        return _mix(_word(s, 0), _rotate(b + n, n)) ^ b
    if n >= 4:
        return _mix(n + (_half_word(s, 0) << 3), _half_word(s, n - 4))
    if n > 0:
        y = s[0] + (s[n >> 1] << 8)
        z = n + (s[n - 1] << 2)
        return _shift_mix(y * K2 & MASK ^ z * K3 & MASK) * K2 & MASK
    return K2


def _up_to_32(s: bytes) -> int:
    n = len(s)
    a, b = _word(s, 0) * K1, _word(s, 8)
    c, d = _word(s, n - 8) * K2, _word(s, n - 16) * K0
    return _mix(
        _rotate(a - b, 43) + _rotate(c, 30) + d, a + _rotate(b ^ K3, 20) - c + n
    )


def _up_to_64(s: bytes) -> int:
    n = len(s)
    v, v_sum = _sums(s, _word(s, 0) + (n + _word(s, n - 16)) * K0, 0, _word(s, 24))
    # The second half starts from two words of its own.
    w, w_sum = _sums(s, _word(s, 16) + _word(s, n - 32), n - 32, _word(s, n - 8))
    r = _shift_mix((v + w_sum) * K2 + (w + v_sum) * K0)
    return _shift_mix(r * K0 + v_sum) * K2 & MASK


def _sums(s: bytes, a: int, start: int, z: int) -> tuple[int, int]:
    b, c = _rotate(a + z, 52), _rotate(a, 37)
    a += _word(s, start + 8)
    c += _rotate(a, 7)
    a += _word(s, start + 16)
    return a + z, b + _rotate(a, 31) + c


def _longer(s: bytes) -> int:
    n = len(s)
    x, y, z = _word(s, 0), _word(s, n - 16) ^ K1, _word(s, n - 56) ^ K0
    v = _weak(s, n - 64, n, y)
    w = _weak(s, n - 32, n * K1, K0)
    z += _shift_mix(v[1]) * K1
    x = _rotate(z + x, 39) * K1
    y = _rotate(y, 33) * K1
    for start in range(0, n - 1 & ~63, 64):
        x = _rotate(x + y + v[0] + _word(s, start + 16), 37) * K1 & MASK ^ w[1]
        y = _rotate(y + v[1] + _word(s, start + 48), 42) * K1 & MASK ^ v[0]
        z = _rotate((z & MASK) ^ w[0], 33)
        v = _weak(s, start, v[1] * K1, x + w[0])
        w = _weak(s, start + 32, z + w[1], y)
        z, x = x, z
    return _mix(_mix(v[0], w[0]) + _shift_mix(y) * K1 + z, _mix(v[1], w[1]) + x)


def _weak(s: bytes, start: int, a: int, b: int) -> tuple[int, int]:
    a += _word(s, start)
    b = _rotate(b + a + _word(s, start + 24), 21)
    c = a
    a += _word(s, start + 8) + _word(s, start + 16)
    b += _rotate(a, 44)
    return (a + _word(s, start + 24)) & MASK, (b + c) & MASK


def _word(s: bytes, start: int) -> int:
    return int.from_bytes(s[start : start + 8], "little")


def _half_word(s: bytes, start: int) -> int:
    return int.from_bytes(s[start : start + 4], "little")


def _rotate(value: int, shift: int) -> int:
    value &= MASK
    return (value >> shift | value << (64 - shift)) & MASK


def _shift_mix(value: int) -> int:
    value &= MASK
    return value ^ value >> 47


def _mix(u: int, v: int) -> int:
    a = _shift_mix(((u ^ v) & MASK) * K128)
    return _shift_mix(((v ^ a) & MASK) * K128) * K128 & MASK
