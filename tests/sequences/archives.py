"""Files of models with something changed in them."""

import io
import json
import zipfile

import numpy as np


def changed(path, document=(), **arrays):
    """The file with a part of its document and some arrays replaced."""
    with zipfile.ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    top = json.loads(parts["model.json"])
    for *way, last, value in [document] if document else []:
        place = top
        for key in way:
            place = place[key]
        place[last] = value
    parts["model.json"] = json.dumps(top).encode()
    for name, values in arrays.items():
        member = io.BytesIO()
        np.save(member, values)
        parts[f"{name.replace('__', '.')}.npy"] = member.getvalue()
    with zipfile.ZipFile(path, "w") as file:
        for name, part in parts.items():
            file.writestr(name, part)
