"""Files that anybody can open safely, and what they hold of an object.

``documents`` reads JSON from anywhere, with a name for every place; ``archive`` has
zips of a document and plain arrays; ``files`` opens and writes all files. A class that
can be saved declares what its files hold once, as :class:`Saved`, from the vocabulary
of ``fields`` and, for the columns of its data, of ``feature_fields``.
"""

from clearwood.codec import fields
from clearwood.codec.feature_fields import COLUMNS, FEATURES, Features
from clearwood.codec.fields import *  # noqa: F403

__all__ = ["COLUMNS", "FEATURES", "Features"]
__all__ += fields.__all__
