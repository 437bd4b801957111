"""Times of a method beside eager, in the order of an evaluation (host/judge/bench)."""

import gc
import os
import random
import statistics
import time

import torch

# Pairs that show whether times are steady, and how close their medians must be.
STEADY_PAIRS, STEADY = 5, 0.02
# A method whose first run takes more than this many times eager's has one pair.
SLOW_FACTOR = 20
# A probe that takes so much longer than the fastest was disturbed.
SLOW_PROBE = 2.0
# Calls that a GPU's queue surely holds, calls asked for ahead, and fillings that keep the GPU busy meanwhile.
QUEUE, QUEUED_CALLS, MOST_FILLS = 400, 10, 256
DEVICE_TIMES = 3


class Observer:
    """Sees what the machine does meanwhile, as the device processes of an evaluation do."""

    def __init__(self, device):
        self.device = device
        self.fastest = float("inf")
        self.work = torch.zeros(1 if device.is_gpu else 1 << 17, device=device.name)
        self.probes = []
        for _ in range(50):
            self.probe()

    def begin(self):
        self.probes = []
        self.waited, self.preempted = scheduling()
        self.begun = time.perf_counter_ns()

    def probe(self):
        # The first launch behind a program takes longer the longer that ran: the second one counts.
        for _ in range(2 if self.device.is_gpu else 1):
            start = time.perf_counter_ns()
            self.work.add_(1)
            self.device.synchronize()
            took = time.perf_counter_ns() - start
        self.fastest = min(self.fastest, took)
        self.probes.append(took)

    def end(self):
        elapsed = time.perf_counter_ns() - self.begun
        waited, preempted = scheduling()

        def since(after, before):
            return None if after is None or before is None else max(after - before, 0)

        probe = {
            "fastest_ns": self.fastest,
            "median_ns": int(statistics.median(self.probes)),
            # What more than a quarter of them took at least.
            "upper_ns": sorted(self.probes, reverse=True)[len(self.probes) // 4],
        }
        return {
            "elapsed_ns": elapsed,
            "waited_ns": since(waited, self.waited),
            "preempted": since(preempted, self.preempted),
            "probes": len(self.probes),
            "slow_probes": sum(took > SLOW_PROBE * self.fastest for took in self.probes),
            "probe": probe,
            "clock_mhz": None,
            "throttled": [],
        }


def scheduling():
    """Nanoseconds that threads waited for a core and times that they lost one; `None` where the system does not say."""
    waited, preempted = None, None
    for thread in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{thread}/schedstat") as file:
                ran, wait, *_ = map(int, file.read().split())
            if ran > 0:
                waited = (waited or 0) + wait
            with open(f"/proc/self/task/{thread}/status") as file:
                for line in file:
                    if line.startswith("nonvoluntary_ctxt_switches:"):
                        preempted = (preempted or 0) + int(line.split()[1])
        except (OSError, ValueError):
            continue
    return waited, preempted


def timed(contestant):
    """Wall clock and the calling thread's time of one run, and its outputs, which are dropped outside the clock."""
    contestant.prepare()
    thread = time.thread_time_ns()
    start = time.perf_counter_ns()
    outputs = contestant.run()
    wall = time.perf_counter_ns() - start
    return wall, max(time.thread_time_ns() - thread, 1), outputs


def is_steady(pairs):
    if len(pairs) < 2 * STEADY_PAIRS:
        return False
    first, second = pairs[-2 * STEADY_PAIRS : -STEADY_PAIRS], pairs[-STEADY_PAIRS:]
    return abs(statistics.median(second) / statistics.median(first) - 1) < STEADY


class Trial:
    """The times of a method beside eager in this process, in the order of an evaluation."""

    def __init__(self, session, method, settings, seed, number):
        self.device, self.settings = session.device, settings
        self.random = random.Random(seed)
        self.other = session.contestant(method, number)
        # Each of the three has inputs of its own.
        self.eager, self.again = (session.eager(self.other) for _ in range(2))
        self.calls = session.calls
        self.observer = Observer(session.device)
        self.kept, self.seen = None, 0
        self.threads = {"eager_ns": [], "rewritten_ns": []}

    def warm_up(self, one, other):
        budget = self.settings["process_ns"] / 4
        started, pairs = time.perf_counter_ns(), []
        while True:
            pairs.append(timed(one)[0] + timed(other)[0])
            warm = len(pairs) >= self.settings["warmups"] and is_steady(pairs)
            if warm or time.perf_counter_ns() - started >= budget:
                return statistics.median(pairs[-STEADY_PAIRS:])

    def plan(self, blocks, pair_ns):
        """How many blocks of how many pairs, fixed before the first is timed."""
        budget = self.settings["process_ns"] * blocks / self.settings["blocks"]
        affordable = min(int(budget / max(pair_ns, 1) / blocks), self.settings["pairs"])
        if affordable == 0:
            return -(-blocks // 2), 1
        return blocks, affordable if affordable == 1 else affordable & ~1

    def block(self, other, pairs, scored):
        orders = [at % 2 == 0 for at in range(pairs // 2 * 2)]
        if pairs % 2 == 1:
            orders.append(self.random.random() < 0.5)
        self.random.shuffle(orders)
        eager_ns, other_ns = [], []
        self.observer.begin()
        for eager_first in orders:
            self.observer.probe()
            if eager_first:
                self.note(timed(self.eager), eager_ns, "eager_ns", scored)
            wall, thread, outputs = timed(other)
            self.note((wall, thread, None), other_ns, "rewritten_ns", scored)
            if scored:
                self.offer(outputs)
            del outputs
            if not eager_first:
                self.note(timed(self.eager), eager_ns, "eager_ns", scored)
        self.observer.probe()
        return {"eager_ns": eager_ns, "other_ns": other_ns, "witness": self.observer.end()}

    def note(self, run, walls, thread, scored):
        walls.append(run[0])
        if scored:
            self.threads[thread].append(run[1])

    def offer(self, outputs):
        """Keeps the outputs of one timed run, each with the same probability: they are compared as well."""
        self.seen += 1
        if self.random.random() < 1 / self.seen:
            # Those from before go first: there is not always memory for both.
            self.kept = None
            # A captured graph has its outputs in one place: they are of the last run then, and copied to stay.
            self.kept = [tensor.clone() for tensor in outputs]
        self.device.synchronize()

    def take(self):
        gc.collect()
        gc.disable()
        try:
            return self.blocks()
        finally:
            gc.enable()

    def blocks(self):
        blocks, controls = self.settings["blocks"], self.settings["control_blocks"]
        control_blocks, control_pairs = self.plan(controls, self.warm_up(self.eager, self.again))
        control = [self.block(self.again, control_pairs, False)]
        timed(self.other)
        if timed(self.other)[0] > SLOW_FACTOR * timed(self.eager)[0]:
            count, pairs = 1, 1
        else:
            count, pairs = self.plan(blocks, self.warm_up(self.eager, self.other))
        scored = [self.block(self.other, pairs, True) for _ in range(count)]
        if control_blocks > 1:
            timed(self.again)
            control.append(self.block(self.again, control_pairs, False))
        device, note = self.device_times()
        return {
            "control": control,
            "pairs": scored,
            "device": device,
            "device_note": note,
            "eager_cold_ns": [],
            "rewritten_cold_ns": [],
            "method": "perf_counter in Python, against eager called from Python"
            + (", torch.cuda.synchronize" if self.device.is_gpu else ""),
            "floor_ns": 0,
        }

    def device_times(self):
        if not self.device.is_gpu:
            return self.threads, ""
        times = {"eager_ns": [], "rewritten_ns": [], "eager_host_ns": [], "rewritten_host_ns": []}
        for _ in range(DEVICE_TIMES):
            for contestant, name in ((self.eager, "eager"), (self.other, "rewritten")):
                restore = contestant.restore if self.eager.pristine else None
                taken = queued_ns(self.device, self.calls, contestant.queue, restore)
                if taken is None:
                    return None, TOO_EARLY
                for into, time_ns in zip((f"{name}_ns", f"{name}_host_ns"), taken):
                    times[into].append(time_ns)
        return times, ""


def queued_ns(device, ops, queue, restore=None):
    """What a GPU takes for one of some calls of so many ops, and what the host takes to ask for it: the first is the time
    between two events around calls that were all asked for while the GPU was busy with something else. Where something is
    restored before each call, each lies between two events of its own (host/judge/bench)."""
    calls = min(max(QUEUE // max(ops, 1), 1), QUEUED_CALLS)
    stretches = [1] * calls if restore else [calls]
    around = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in stretches]
    fills = 4
    while fills <= MOST_FILLS:
        device.fill(0)
        torch.cuda.synchronize()
        device.fill(fills)
        queue()
        host_ns = 0
        for (start, end), count in zip(around, stretches):
            if restore:
                restore()
            start.record()
            asked = time.perf_counter_ns()
            for _ in range(count):
                queue()
            host_ns += time.perf_counter_ns() - asked
            end.record()
        late = around[0][0].query()
        torch.cuda.synchronize()
        if not late:
            device_ms = sum(start.elapsed_time(end) for start, end in around)
            return max(int(device_ms * 1e6 / calls), 1), max(host_ns // calls, 1)
        fills *= 4
    return None


TOO_EARLY = "the GPU is done before the next call is asked for: an op of the program waits for it"


def keep_to(cores, is_gpu):
    """Keeps threads to these cores while something is timed: the calling one on a GPU, all of them on a CPU."""
    threads = [0] if is_gpu else [int(thread) for thread in os.listdir("/proc/self/task")]
    before = os.sched_getaffinity(0)
    for thread in threads:
        try:
            os.sched_setaffinity(thread, cores)
        except OSError:
            continue
    return before
