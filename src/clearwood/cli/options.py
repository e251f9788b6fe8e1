"""How options are read that several verbs have."""


def listed(text: str | None) -> list[str]:
    """What stands between commas.

    Examples
    --------
    >>> listed("id, name"), listed(None)
    (['id', 'name'], [])
    """
    return [name.strip() for name in text.split(",")] if text else []
