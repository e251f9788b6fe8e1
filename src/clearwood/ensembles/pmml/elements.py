"""Parsing of untrusted XML: no document type, hence no entities; bounded memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn
from xml.parsers import expat

from clearwood._memory import check_memory
from clearwood.codec.documents import plain_number, refuse_damaged, shown
from clearwood.exceptions import ModelFormatError, UnsupportedModelError

MOST_NESTED = 2_000
MEMORY_OF_ELEMENT, MEMORY_OF_ATTRIBUTE, MEMORY_OF_TREE = 300, 120, 2_000
"""Bytes in Python."""


class Element:
    """An element of a document, with its line for messages.

    Parameters
    ----------
    tag : str
        Its name without a prefix.
    attributes : dict of str to str
    where : tuple of (str, int)
        File and line.
    """

    __slots__ = ("attributes", "children", "read", "tag", "text", "where")

    def __init__(
        self, tag: str, attributes: dict[str, str], where: tuple[str, int]
    ) -> None:
        self.tag, self.attributes, self.where = tag, attributes, where
        self.children: list[Element] = []
        self.text = ""
        self.read: Any = None

    def all(self, tag: str) -> list[Element]:
        """Children of a name."""
        return [child for child in self.children if child.tag == tag]

    def first(self, *tags: str) -> Element | None:
        """First child of one of some names, or None."""
        return next((child for child in self.children if child.tag in tags), None)

    def need(self, *tags: str) -> Element:
        """First child of one of some names."""
        found = self.first(*tags)
        if found is None:
            self.fail("none", f"an element {' or '.join(tags)}")
        return found

    def get(self, key: str, default: str | None = None) -> str:
        """An attribute; required without a default."""
        if key not in self.attributes and default is None:
            self.fail(f"no {key!r}", "one")
        return self.attributes.get(key, default or "")

    def number(self, key: str, default: str | None = None) -> float:
        """An attribute that is a finite number."""
        text = self.get(key, default)
        number = plain_number(text.strip())
        if number is None:
            self.fail(f"{key}={shown(text)}", "a number")
        return number

    def fail(self, found: str, expected: str) -> NoReturn:
        """Raise an error for a damaged file."""
        name, line = self.where
        refuse_damaged(f"{name}: line {line}, {self.tag}", found, expected)

    def refuse(self, reason: str) -> NoReturn:
        """Raise an error for a valid file of an unsupported kind."""
        name, line = self.where
        raise UnsupportedModelError(
            f"{name}: line {line}: cannot read {reason}. Pass a file of the library "
            "that the model was fitted with, or its predict function as a black box."
        )


def parse(data: bytes, name: str, read_tree: Callable[..., Any]) -> Element:
    """Parse a document, whose trees are read as soon as they end.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.
    read_tree : callable
        Receives the root of the document so far and an element ``TreeModel``, whose
        children are dropped then; the result is its ``read``.

    Returns
    -------
    Element
        The root.
    """
    root = Element("document", {}, (name, 1))
    stack, memory, before = [root], 0, [0]
    parser = expat.ParserCreate()
    parser.buffer_text = True

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal memory
        element = Element(
            tag.rpartition(":")[2], attributes, (name, parser.CurrentLineNumber)
        )
        stack[-1].children.append(element)
        stack.append(element)
        memory += MEMORY_OF_ELEMENT + MEMORY_OF_ATTRIBUTE * len(attributes)
        if element.tag == "TreeModel":
            before.append(memory)
        check_memory(memory, len(data), name)
        if len(stack) > MOST_NESTED:
            element.fail("too many elements in one another", f"up to {MOST_NESTED:,}")

    def end(tag: str) -> None:
        nonlocal memory
        element = stack.pop()
        if element.tag == "TreeModel":
            element.read = read_tree(root, element)
            element.children = []
            memory = before.pop() + MEMORY_OF_TREE

    def text(piece: str) -> None:
        if stack[-1].tag == "Array":
            stack[-1].text += piece

    def doctype(*_: Any) -> NoReturn:
        raise ModelFormatError(
            f"{name}: found a document type (DOCTYPE), which PMML has not, and which "
            "could define entities. Remove it if you trust the file."
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.CharacterDataHandler, parser.StartDoctypeDeclHandler = text, doctype
    try:
        parser.Parse(data, True)
    except ModelFormatError:
        raise
    except (expat.ExpatError, LookupError, ValueError) as error:
        raise ModelFormatError(
            f"{name}: invalid XML, {error}. Write the file again."
        ) from None
    return root
