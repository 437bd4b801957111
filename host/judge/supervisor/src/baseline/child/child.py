"""Runs one graph in PyTorch for `passhost baseline`, by several methods.

Started with a scratch directory as its only argument. Each line of standard input is a request in JSON, each line of
standard output the answer to one.
"""

import ctypes
import gc
import json
import os
import signal
import sys

PR_SET_PDEATHSIG, SIGKILL = 1, 9
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, SIGKILL)
signal.signal(signal.SIGTERM, signal.SIG_IGN)

# Answers leave by a descriptor of their own: what libraries print goes to standard error.
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

# After standard output is safe.
import torch  # noqa: E402
from program import Refused, Session, Unwritable, must_have_compiled  # noqa: E402
from timing import Trial, keep_to  # noqa: E402

# Lines of an error that are passed on.
ERROR_LINES = 3


class Server:
    def __init__(self):
        self.session = None

    def hello(self, request):
        """What this Python is."""
        torch.set_num_threads(request["threads"])
        is_gpu = request["device"] != "cpu"
        if is_gpu:
            if not torch.cuda.is_available():
                raise Refused("PyTorch finds no usable GPU")
            torch.cuda.set_device(request["device"])
        torch.set_grad_enabled(False)
        return {
            "python": sys.version.split()[0],
            "torch": torch.__version__,
            "cuda": torch.version.cuda or "",
            "device": torch.cuda.get_device_name() if is_gpu else "cpu",
        }

    def load(self, request):
        self.session = None
        gc.collect()
        self.session = Session(request)
        return {"source": self.session.text}

    def run(self, request):
        return {"outputs": self.session.run(request["method"], request["rounds"], request["name"])}

    def time(self, request):
        """Times a method, and runs it once more on the same inputs so that what it then gives is compared as well."""
        number = request["round"]
        trial = Trial(self.session, request["method"], request["settings"], request["seed"], number)
        cores = request["settings"]["cores"]
        before = keep_to(cores, self.session.device.is_gpu) if cores else None
        try:
            times = trial.take()
        finally:
            if before is not None:
                keep_to(before, self.session.device.is_gpu)
        if request["method"]["compile"] is not None:
            must_have_compiled(request["method"]["compile"])
        # Only what will be compared is written.
        kept = [] if request["name"] is None else self.session.keep(trial.kept, number, request["name"])
        return {"times": times, "outputs": kept}

    def let_go(self):
        """Gives memory back that is free: whoever compares the outputs works on the same GPU."""
        if self.session is not None and self.session.device.is_gpu:
            gc.collect()
            torch.cuda.empty_cache()


def main():
    server = Server()
    for line in sys.stdin:
        request = json.loads(line)
        try:
            answer = getattr(server, request["ask"])(request)
            server.let_go()
        except Refused as refused:
            answer = {"error": str(refused)}
        except Unwritable as error:
            answer = {"error": str(error), "files": True}
        except Exception as error:  # noqa: BLE001: whatever PyTorch raises is the answer
            # What a compiler says stands in the lines behind who it is.
            lines = [line.strip() for line in str(error).splitlines() if line.strip()]
            answer = {"error": f"{type(error).__name__}: {' '.join(lines[:ERROR_LINES]) or 'no message'}"}
        print(json.dumps(answer), file=ANSWERS, flush=True)


main()
