"""Serialization: safe file formats, and declarations of what files store of an object.

``documents`` parses untrusted JSON, with a path for every value; ``archive`` reads and
writes zips of a document and plain arrays; ``files`` opens and writes all files. A
class that can be saved declares the content of its files once, as :class:`Saved`, from
the field types of ``fields`` and, for the columns of its data, of ``feature_fields``.
"""

from clearwood.codec import fields
from clearwood.codec.feature_fields import COLUMNS, FEATURES, POINT_MASSES, Features
from clearwood.codec.fields import *  # noqa: F403

__all__ = ["COLUMNS", "FEATURES", "POINT_MASSES", "Features"]
__all__ += fields.__all__
