# SPDX-License-Identifier: Apache-2.0
"""Finds another project's package that bears our name.

The plugin puts us last on PYTHONPATH, but Python searches site-packages after
that: a package of the same name there would be hidden without a word.
"""

import os
import sys
from importlib.machinery import PathFinder

from . import _say

_NAME = __package__
_MARK = "_loongforge_slurm.py"


def warn():
    """Prints one line, once a node, if another package is hidden by us."""
    ours = os.path.dirname(os.path.abspath(__file__))
    other = find(ours)
    if other:
        _say.once_a_node(
            f"LoongForge's Slurm client at {ours} is used; another package "
            f"named {_NAME} lies in {other} and is hidden: remove one, or run "
            "with --loongforge-set=env.python=no"
        )


def find(ours):
    """Returns where a package lies that has our name and is not ours, or None.

    Only looks for it: nothing of it is imported.
    """
    for origin in _origins(os.path.realpath(os.path.dirname(ours))):
        folder = os.path.dirname(origin)
        # A module has no folder of its own, and cannot carry the mark.
        if not os.path.basename(origin).startswith("__init__."):
            return origin
        if not os.path.exists(os.path.join(folder, _MARK)):
            return folder
    return None


def _origins(parent):
    """The files that `import loongforge` would run if parent did not exist."""
    for entry in list(sys.path):
        if isinstance(entry, str) and os.path.realpath(entry) != parent:
            yield from _origin(PathFinder, [entry])
    # Editable installs bring a finder of their own.
    for finder in list(sys.meta_path):
        if finder is not PathFinder:
            yield from _origin(finder, None)


def _origin(finder, path):
    try:
        spec = finder.find_spec(_NAME, path)
    except Exception:  # a foreign finder's fault must not stop a training
        return
    # A folder without __init__.py (a checkout, say) is no package.
    if spec is not None and spec.has_location and spec.origin:
        yield spec.origin
