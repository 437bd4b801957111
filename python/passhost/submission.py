"""What is submitted: a pass, for a sample."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, field
from pathlib import Path

from passhost.errors import SettingsError

COMPONENT = "application/wasm"
SOURCE = "text/rust"


@dataclass(frozen=True)
class Submission:
    """A pass for a sample: `Submission.source`, `Submission.component` or `Submission.file` make one."""

    sample: str
    kind: str
    content: bytes = field(repr=False)

    @staticmethod
    def source(sample: str, text: str) -> Submission:
        """The source of a pass: one file of Rust, which the server builds."""
        # A model may write half of a character, which is no text.
        return Submission(sample, SOURCE, text.encode("utf-8", "replace"))

    @staticmethod
    def component(sample: str, content: bytes) -> Submission:
        """A pass that was built: the bytes of a WebAssembly component."""
        return Submission(sample, COMPONENT, content)

    @staticmethod
    def file(sample: str, path: str | os.PathLike[str]) -> Submission:
        """A file of either kind, by its ending: `.rs` or `.wasm`."""
        kinds = {".rs": SOURCE, ".wasm": COMPONENT}
        path = Path(path)
        if path.suffix not in kinds:
            raise SettingsError(f"{path} ends neither in .rs nor in .wasm; name a source or a component")
        try:
            return Submission(sample, kinds[path.suffix], path.read_bytes())
        except OSError as error:
            raise SettingsError(f"cannot read {path}: {error.strerror}") from None

    @property
    def sha256(self) -> str:
        """Of the content."""
        return hashlib.sha256(self.content).hexdigest()

    def key(self, run: str, generation: int) -> str:
        """The idempotency key of this submission within a run: whoever submits it there gets the same evaluation."""
        parts = [run, self.sample, self.kind, self.sha256, str(generation)]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()
