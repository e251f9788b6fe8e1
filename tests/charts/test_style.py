"""Texts in pictures: where their lines end."""

from clearwood.charts.style import wrapped


def test_wrapping_keeps_pieces_together_and_loses_nothing():
    pieces = ["age <= 20 and", "a longer condition than fits", "x" * 30]
    for width in (6, 12, 20, 100):
        lines = wrapped(pieces, width, len)
        assert all(len(line) <= width for line in lines)
        joined = "".join(lines).replace(" ", "")
        assert joined == "".join(pieces).replace(" ", "")
    assert wrapped(["ab cd", "ef gh"], 8, len) == ["ab cd", "ef gh"]
    assert wrapped([""], 5, len) == [""]
