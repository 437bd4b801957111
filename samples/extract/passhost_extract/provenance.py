"""Where a sample comes from, as `graph_net.json` says it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from .errors import ExtractError


@dataclass(frozen=True)
class Provenance:
    """Where a task comes from, for `graph_net.json`.

    `source` is the library that builds the model (its version is recorded where it is installed), `model_options` the arguments it
    was built with.
    """

    model_name: str
    source: str = "user"
    heuristic_tag: str = "other"
    model_options: dict[str, Any] = field(default_factory=dict)

    def graph_net(self, module: str, ops: Sequence[str]) -> dict[str, Any]:
        """The content of `graph_net.json` for `ops`, which lie in `module` of the model."""
        return {
            "framework": "torch",
            "num_devices_required": 1,
            "num_nodes_required": 1,
            "dynamic": False,
            "model_name": self.model_name,
            "source": self.source,
            "heuristic_tag": self.heuristic_tag,
            "model_options": self.model_options,
            "module": module,
            "op_sequence": list(ops),
            "versions": _versions("torch", self.source),
        }


def check_folder_name(name: str) -> str:
    """`name`, if a folder of that name can be made on every system; else an `ExtractError`."""
    if not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.+-]*", name):
        raise ExtractError(
            f"{name!r} becomes a folder, so it must consist of letters, digits and _ . + - and begin with a letter, a digit or _"
        )
    return name


def _versions(*packages: str) -> dict[str, str]:
    versions = {}
    for package in packages:
        try:
            # Without a local part such as +cpu, which says how the package was built, not what it computes.
            versions[package] = metadata.version(package).partition("+")[0]
        except metadata.PackageNotFoundError:
            continue
    return versions
