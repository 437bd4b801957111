"""OpenEnv's own checks of a server that runs, and of the files of an environment."""

import os
import pathlib
import subprocess
import sys

program = pathlib.Path(sys.executable).parent / "openenv"
package = pathlib.Path(__file__).resolve().parents[3] / "openenv"
for words in [
    ["--url", f"http://{os.environ['PASSHOST_ADDRESS']}", "--timeout", "60"],
    [package, "--level", "static", "--skip-build"],
]:
    run = subprocess.run([program, "validate", *words], capture_output=True, text=True)
    if run.returncode or "Verdict: PASS" not in run.stdout:
        raise SystemExit(f"openenv validate ends with {run.returncode}\n{run.stdout}\n{run.stderr}")
print("the server and the package pass")
