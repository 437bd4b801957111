"""What an entry of the catalogue is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from ..provenance import Provenance


@dataclass(frozen=True)
class Architecture:
    """A real architecture in a configuration that a laptop can run.

    `build` returns a model in eval mode with random weights, and the keyword arguments of one call.
    """

    provenance: Provenance
    build: Callable[[], tuple[torch.nn.Module, dict[str, Any]]]

    @property
    def name(self) -> str:
        """How the table and the folders call it: the source and the model."""
        return f"{self.provenance.source}/{self.provenance.model_name}"
