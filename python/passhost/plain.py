"""What a model writes as the arguments of a call, as JSON that every parser takes: nothing of it ends an episode."""

from __future__ import annotations

import json
import math
from typing import Any

#: Objects in objects that are sent. The server takes 128 and says what is wrong with fewer.
_DEPTH = 32
#: Integers up to there are sent as such.
_LARGEST = 1 << 63


def text(message: Any) -> str:
    """JSON with no lone half of a character, no number without end, and no depth without end."""
    return json.dumps(_plain(message, _DEPTH), ensure_ascii=False).encode("utf-8", "replace").decode()


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) >= _LARGEST:
        return hex(value)
    if not isinstance(value, (dict, list, tuple)):
        return value
    if depth == 0:
        return "..."
    if isinstance(value, dict):
        return {str(name): _plain(inner, depth - 1) for name, inner in value.items()}
    return [_plain(inner, depth - 1) for inner in value]
