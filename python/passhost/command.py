"""The `passhost` command of the wheel: the program that lies in this package."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    program = Path(__file__).parent / "programs" / "passhost"
    if not program.exists():
        sys.exit("passhost: no programs in this package; run `make wheel` in a clone and install what it makes")
    os.execv(program, ["passhost", *sys.argv[1:]])
