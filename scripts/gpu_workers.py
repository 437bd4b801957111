"""Processes that measure on GPUs. Several of a GPU compile at the same time; while one times, the others are stopped.

The program that measures starts itself anew with `--worker`, which calls `work`. Tasks and results are JSON. What leads
to the first result runs beside the others, Inductor's choice of kernels too; only the backend's own timing is alone.
"""

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time


class Alone:
    """Makes functions that run while the other workers of the GPU are stopped, and adds up how long they waited."""

    def __init__(self, say, synchronize):
        self.say, self.synchronize, self.depth, self.waited = say, synchronize, 0, 0.0

    def __call__(self, what):
        def run(*arguments):
            self.begin()
            try:
                return what(*arguments)
            finally:
                self.end()

        return run

    def begin(self):
        begin = time.perf_counter()
        self.synchronize()
        if self.depth == 0:
            self.say("alone")
            sys.stdin.readline()
            self.waited += time.perf_counter() - begin
        self.depth += 1

    def end(self):
        self.depth -= 1
        if self.depth == 0:
            try:
                self.synchronize()
            finally:
                self.say("done")


def work(do):
    """A worker: `do(task, say, alone)` measures what a task says, with `say` for each result and an `Alone`."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    import torch

    from passhost.dynamo import check

    def say(value):
        answers.write(json.dumps(value) + "\n")
        answers.flush()

    alone = Alone(say, torch.cuda.synchronize if torch.cuda.is_available() else lambda: None)
    # The backend times in a model's first call.
    check.times = alone(check.times)
    for line in sys.stdin:
        do(json.loads(line), say, alone)
        say("end")


def measure(tasks, keep, lost, *, gpus, workers, seconds, most):
    """Has workers do the tasks until `seconds` are over: `keep(task, result)` for each result, `lost(task)` for a task
    whose worker ended or took more than `most` seconds."""
    deadline, lock = time.monotonic() + seconds, threading.Lock()
    left = queue.Queue()
    for task in tasks:
        left.put(task)

    def locked(what):
        def call(*arguments):
            with lock:
                what(*arguments)

        return call

    of_all = [Gpu(number, deadline, most) for number in range(gpus)]
    threads = [
        threading.Thread(target=gpu.work, args=(left, locked(keep), locked(lost)))
        for _ in range(workers)
        for gpu in of_all
    ]
    for thread in threads:
        thread.start()
    try:
        for thread in threads:
            thread.join()
    except KeyboardInterrupt:
        for gpu in of_all:
            gpu.stop()
        raise


class Gpu:
    """The workers of a GPU, of which one is alone at times."""

    def __init__(self, number, deadline, most):
        visible = os.environ.get("CUDA_VISIBLE_DEVICES")
        self.name = visible.split(",")[number] if visible else str(number)
        self.deadline, self.most = deadline, most
        self.processes, self.turn = set(), threading.Lock()

    def start(self):
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": self.name}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        with self.turn:
            process = subprocess.Popen([sys.executable, sys.argv[0], "--worker"], env=environment, **pipes)
            self.processes.add(process)
        return process

    def stop(self):
        """Ends all workers, whose tasks are neither kept nor lost."""
        self.deadline = 0
        for process in list(self.processes):
            process.kill()

    def work(self, tasks, keep, lost):
        """Gives a worker one task after the other. One that ends or takes too long is replaced."""
        process = self.start()
        while time.monotonic() < self.deadline:
            try:
                task = tasks.get_nowait()
            except queue.Empty:
                break
            timer = threading.Timer(min(self.most, self.deadline - time.monotonic()), process.kill)
            timer.start()
            try:
                ended = self.results(process, task, keep)
            finally:
                timer.cancel()
            if ended != "right" and time.monotonic() < self.deadline:
                if ended == "lost":
                    lost(task)
                process.kill()
                process = self.start()
        process.kill()

    def results(self, process, task, keep):
        """Whether a task ended, and `right` if its worker may go on."""
        ended = "right"
        try:
            process.stdin.write(json.dumps(task) + "\n")
            process.stdin.flush()
            for line in process.stdout:
                said = json.loads(line)
                if said == "end":
                    return ended
                if said == "alone":
                    with self.turn:
                        self.alone(process)
                    continue
                keep(task, said)
                # What a process does on the GPU after such an error fails.
                ended = "spoiled" if "CUDA error" in line else ended
        except (BrokenPipeError, ValueError):
            # It was killed, perhaps in the middle of a line.
            pass
        with self.turn:
            self.processes.discard(process)
        return "lost"

    def alone(self, process):
        """Stops the other workers until this one is done."""
        others = [other for other in self.processes if other is not process and other.poll() is None]
        for other in others:
            other.send_signal(signal.SIGSTOP)
        # What they have launched ends.
        time.sleep(0.05)
        try:
            process.stdin.write("\n")
            process.stdin.flush()
            process.stdout.readline()
        finally:
            for other in others:
                other.send_signal(signal.SIGCONT)
