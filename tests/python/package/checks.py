"""The package's own tests, by servers that are scripted, and what mypy and ruff have to say."""

import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).parents[3]
SOURCES = ["passhost", "tests", *(str(ROOT / "tests/python" / name) for name in ("package", "skyrl", "trl_verl"))]
CHECKS = [
    ["pytest", "-q", "-p", "no:cacheprovider"],
    ["mypy", "--strict", "--python-version", "3.10", "--cache-dir", os.devnull],
    ["ruff", "check", "--no-cache", "--config", "pyproject.toml", *SOURCES],
    ["ruff", "format", "--no-cache", "--config", "pyproject.toml", "--check", *SOURCES],
]


def main():
    said = []
    for check in CHECKS:
        ran = subprocess.run([sys.executable, "-m", *check], cwd=ROOT / "python", capture_output=True, text=True)
        if ran.returncode:
            raise SystemExit(f"{' '.join(check)} ends with {ran.returncode}\n{ran.stdout}\n{ran.stderr}")
        said.append(f"{check[0]}: {re.sub(r' in [0-9.]+s', '', ran.stdout.strip().splitlines()[-1])}")
    print("; ".join(said))


main()
