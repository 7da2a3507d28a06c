#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""AutoTVM, Ansor and MetaSchedule beside ours: the same tasks, trials and threads, and what each found timed by turns in fresh processes.

    tests/peers/tvm_tuners.py build/release/bin/tw --tvm PYTHON --meta-schedule PYTHON [--tasks dense_1024,...] [--systems autotvm,ansor,...]
                              [--trials 64] [--threads 1] [--turns 5] [--tuner ansor] [--keep FOLDER]

`--tvm` is a Python whose `tvm` has AutoTVM and Ansor (up to 0.16), with the folder of that package after a colon where it is not installed there; `--meta-schedule`
one whose `tvm` has `tvm.s_tir.meta_schedule` (0.22 and later). Either may be absent, and is left out then. This Python needs `onnx`, for our side.
Each system has the layout that it is best at: AutoTVM its blocks of channels, Ansor and MetaSchedule channels last with weights laid out ahead of time where they do
so, ours blocks of channels; copies between layouts count for none. A table of best times in milliseconds, wall times in seconds and their ratios is printed; wants a machine that does nothing else.
"""
import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

TVM_SYSTEMS = ("autotvm", "ansor")
SYSTEMS = TVM_SYSTEMS + ("meta-schedule",)
BUILD_LIMIT_S = 120  # the first builds wait for processes that import TVM

# Rows: kind, then (m, n, k) of a product, or (channels, filters, side, window) of a convolution with stride 1 that keeps its side.
TASKS = {
    "dense_1024": ("dense", (1024, 1024, 1024)),
    "dense_64x384x384": ("dense", (64, 384, 384)),
    "conv2d_64x56x56": ("conv2d", (64, 64, 56, 3)),
    "conv2d_64x28x28": ("conv2d", (64, 64, 28, 3)),
    "depthwise_144x56x56": ("depthwise", (144, 144, 56, 3)),
    "depthwise_192x28x28": ("depthwise", (192, 192, 28, 3)),
}


def target_text(threads):
    """Of this machine. TVM's own default may be of another architecture, so the triple is named."""
    flags = open("/proc/cpuinfo").read().split("flags", 1)[1].split("\n", 1)[0].split()
    cpu = "skylake-avx512" if "avx512bw" in flags else "core-avx2"
    return f"llvm -mtriple=x86_64-linux-gnu -mcpu={cpu} -num-cores={threads}"


def definition(te, task):
    """Channels last: inputs, the constant among them, and the result."""
    kind, shape = TASKS[task]
    if kind == "dense":
        m, n, k = shape
        a, w = te.placeholder((m, k), name="a"), te.placeholder((n, k), name="w")
        r = te.reduce_axis((0, k), name="r")
        return [a, w], te.compute((m, n), lambda i, j: te.sum(a[i, r] * w[j, r], axis=r), name="dense", attrs={"layout_free_placeholders": [w]})
    channels, filters, side, taps = shape
    edge = taps // 2
    x = te.placeholder((1, side, side, channels), name="x")
    padded = te.compute((1, side + 2 * edge, side + 2 * edge, channels),
                        lambda n, h, w, c: te.if_then_else(te.all(h >= edge, h < side + edge, w >= edge, w < side + edge), x[n, h - edge, w - edge, c], 0.0), name="pad")
    y, z = te.reduce_axis((0, taps), name="y"), te.reduce_axis((0, taps), name="z")
    if kind == "depthwise":
        f = te.placeholder((taps, taps, channels), name="f")
        return [x, f], te.compute((1, side, side, channels), lambda n, h, w, c: te.sum(padded[n, h + y, w + z, c] * f[y, z, c], axis=[y, z]), name="depthwise")
    f = te.placeholder((taps, taps, channels, filters), name="f")
    i = te.reduce_axis((0, channels), name="i")
    return [x, f], te.compute((1, side, side, filters), lambda n, h, w, o: te.sum(padded[n, h + y, w + z, i] * f[y, z, i, o], axis=[y, z, i]), name="conv2d",
                              attrs={"layout_free_placeholders": [f]})


@contextlib.contextmanager
def load_there(remote_kwargs, built):
    """What AutoTVM does with a candidate on its server, told in one argument: some builds of TVM name a compiler too, which their own servers do not take."""
    from tvm.autotvm.measure import request_remote
    remote, name = request_remote(**remote_kwargs), os.path.basename(built.filename)
    remote.upload(built.filename)
    try:
        yield remote, remote.get_function("tvm.rpc.server.load_module")(name)
    finally:
        for path in (name, os.path.splitext(name)[0] + ".so", ""):
            remote.remove(path)


def tune_autotvm(options, folder):
    import tvm
    from tvm import autotvm, te, topi  # noqa: F401 (topi registers the templates)
    kind, shape = TASKS[options.task]
    tensor = lambda s: ("TENSOR", s, "float32")
    if kind == "dense":
        m, n, k = shape
        name, arguments = "dense_pack.x86", (tensor((m, k)), tensor((n, k)), None, "float32")
    else:
        channels, filters, side, taps = shape
        edge = taps // 2
        weight = (filters, 1 if kind == "depthwise" else channels, taps, taps)
        name = "depthwise_conv2d_NCHWc.x86" if kind == "depthwise" else "conv2d_NCHWc.x86"
        arguments = (tensor((1, channels, side, side)), tensor(weight), (1, 1), (edge,) * 4, (1, 1), "NCHW", "NCHW", "float32")
    target = tvm.target.Target(target_text(options.threads))
    task = autotvm.task.create(name, args=arguments, target=target)
    log = os.path.join(folder, "autotvm.json")
    builder = autotvm.LocalBuilder(timeout=BUILD_LIMIT_S, do_fork=False)
    runner = autotvm.LocalRunner(number=1, repeat=5, min_repeat_ms=2, enable_cpu_cache_flush=False, module_loader=load_there)
    measure = autotvm.measure_option(builder=builder, runner=runner)
    autotvm.tuner.XGBTuner(task).tune(n_trial=min(options.trials, len(task.config_space)), measure_option=measure, callbacks=[autotvm.callback.log_to_file(log)])
    with target:
        schedule, tensors = task.instantiate(task.config_space.get(best_index(autotvm, log)))
        return tvm.build(schedule, tensors, target), [[int(d) for d in t.shape] for t in tensors]


def best_index(autotvm, log):
    rows = [(sum(r.costs) / len(r.costs), i.config.index) for i, r in autotvm.record.load_from_file(log) if r.error_no == 0]
    if not rows:
        raise RuntimeError(f"AutoTVM measured none of its candidates; {log} has their errors' numbers")
    return min(rows)[1]


def tune_ansor(options, folder):
    import tvm
    from tvm import auto_scheduler, te
    name = options.task

    def workload():
        inputs, result = definition(te, name)
        return [*inputs, result]

    auto_scheduler.register_workload(name, workload)
    target = tvm.target.Target(target_text(options.threads))
    hardware = auto_scheduler.HardwareParams(num_cores=options.threads, target=target)
    task = auto_scheduler.SearchTask(func=name, args=(), target=target, hardware_params=hardware,
                                     layout_rewrite_option=auto_scheduler.LayoutRewriteOption.REWRITE_FOR_PRE_TRANSFORMED)
    log = os.path.join(folder, "ansor.json")
    runner = auto_scheduler.LocalRunner(number=1, repeat=5, min_repeat_ms=2)
    task.tune(auto_scheduler.TuningOptions(num_measure_trials=options.trials, builder=auto_scheduler.LocalBuilder(timeout=BUILD_LIMIT_S), runner=runner,
                                           measure_callbacks=[auto_scheduler.RecordToFile(log)], verbose=0))
    schedule, tensors = task.apply_best(log, auto_scheduler.LayoutRewriteOption.REWRITE_FOR_PRE_TRANSFORMED)
    return tvm.build(schedule, tensors, target), [[int(d) for d in t.shape] for t in tensors]


def tune_meta_schedule(options, folder):
    import tvm
    from tvm import te
    from tvm.s_tir import meta_schedule
    inputs, result = definition(te, options.task)
    function = te.create_prim_func([*inputs, result])
    target = tvm.target.Target(json_target(options.threads))
    database = meta_schedule.tune_tir(function, target=target, work_dir=folder, max_trials_global=options.trials, num_trials_per_iter=min(options.trials, 64),
                                       builder=meta_schedule.builder.LocalBuilder(timeout_sec=BUILD_LIMIT_S))
    scheduled = meta_schedule.tir_integration.compile_tir(database, function, target)
    shapes = [[int(d) for d in t.shape] for t in [*inputs, result]]
    return tvm.compile(scheduled.mod if hasattr(scheduled, "mod") else scheduled, target=target), shapes


def json_target(threads):
    """The same for versions that take no text."""
    words = dict(w.lstrip("-").split("=", 1) for w in target_text(threads).split()[1:])
    return {"kind": "llvm", "mtriple": words["mtriple"], "mcpu": words["mcpu"], "num-cores": threads}


def worker(options):
    """In the Python of one system: tunes and writes `best.so`, or times it."""
    library, about = os.path.join(options.folder, "best.so"), os.path.join(options.folder, "best.json")
    if options.work == "tune":
        begin = time.perf_counter()
        tune = {"autotvm": tune_autotvm, "ansor": tune_ansor, "meta-schedule": tune_meta_schedule}[options.system]
        module, shapes = tune(options, options.folder)
        seconds = time.perf_counter() - begin
        module.export_library(library)
        json.dump({"shapes": shapes, "wall_s": seconds}, open(about, "w"))
        return
    import numpy
    import tvm
    module = tvm.runtime.load_module(library)
    make = getattr(tvm, "nd", None) or tvm.runtime
    make = getattr(make, "array", None) or tvm.runtime.tensor
    random = numpy.random.default_rng(0)
    arrays = [make(random.uniform(-1, 1, s).astype("float32")) for s in json.load(open(about))["shapes"]]
    name = getattr(module, "entry_name", None) or "main"
    if options.system != "meta-schedule":
        name = "default_function" if options.system == "autotvm" else name
    for candidate in (name, "default_function", "main"):
        try:
            timer = module.time_evaluator(candidate, tvm.cpu(0), number=1, repeat=options.samples, min_repeat_ms=20)
            print(json.dumps({"seconds": min(timer(*arrays).results)}))
            return
        except (AttributeError, ValueError, RuntimeError, tvm.error.TVMError) as e:
            reason = e
    raise SystemExit(f"{library}: no function that runs ({reason})")


def write_onnx(task, path):
    import numpy
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    kind, shape = TASKS[task]
    random = numpy.random.default_rng(0)
    if kind == "dense":
        m, n, k = shape
        x, y, w = (m, k), (m, n), random.uniform(-1, 1, (n, k))
        node = helper.make_node("Gemm", ["x", "w"], ["y"], transB=1)
    else:
        channels, filters, side, taps = shape
        groups = channels if kind == "depthwise" else 1
        x, y, w = (1, channels, side, side), (1, filters, side, side), random.uniform(-1, 1, (filters, channels // groups, taps, taps))
        node = helper.make_node("Conv", ["x", "w"], ["y"], group=groups, pads=[taps // 2] * 4)
    value = lambda name, s: helper.make_tensor_value_info(name, TensorProto.FLOAT, s)
    graph = helper.make_graph([node], task, [value("x", x)], [value("y", y)], [numpy_helper.from_array(w.astype("float32"), "w")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), path)


def run(command, **more):
    done = subprocess.run(command, capture_output=True, text=True, **more)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command[:4])} ... exited with {done.returncode}: {(done.stderr or done.stdout).strip()[-600:]}")
    return done.stdout


class Ours:
    def __init__(self, options, task, folder):
        self.options, self.folder = options, folder
        self.model, self.db, self.code = (os.path.join(folder, f) for f in ("task.onnx", "task.db", "task.twx"))
        write_onnx(task, self.model)
        self.target = f"llvm -num-cores={options.threads}"

    def tune(self):
        begin = time.perf_counter()
        run([self.options.tw, "tune", self.model, "--target", self.target, "--tuner", self.options.tuner, "--trials", str(self.options.trials), "--network-finals", "never", "--db", self.db])
        seconds = time.perf_counter() - begin
        run([self.options.tw, "compile", self.model, "--target", self.target, "--db", self.db, "-o", self.code])
        return seconds

    def time(self):
        # Of the kernel alone: theirs find images in the layout that they want, too, while a network of one operator has copies from and to ONNX's around it.
        report = json.loads(run([self.options.tw, "run", self.code, "--random-input", "--profile", "--repeat", str(20 * self.options.samples), "--json"]))
        return sum(row["median_s"] for row in report["profile"] if row["nodes"])


class Theirs:
    def __init__(self, options, system, task, folder, python):
        self.command = [python[0], os.path.abspath(__file__), "-", "--worker", system, "--task", task, "--folder", folder, "--threads", str(options.threads), "--trials", str(options.trials),
                        "--samples", str(options.samples)]
        # Their own helper processes import the package too.
        self.environment = {**os.environ, "TVM_NUM_THREADS": str(options.threads), **({"PYTHONPATH": python[1]} if python[1] else {})}
        self.about = os.path.join(folder, "best.json")

    def tune(self):
        run([*self.command, "--work", "tune"], env=self.environment)
        return json.load(open(self.about))["wall_s"]

    def time(self):
        return json.loads(run([*self.command, "--work", "time"], env=self.environment).strip().splitlines()[-1])["seconds"]


def compare(options, task, folder):
    """Best times by turns; systems that fail are told and left out."""
    sides, wall, times = {}, {}, {}
    for system in options.systems:
        python = options.pythons.get(system)
        if system != "tilewright" and not python:
            continue
        place = os.path.join(folder, task, system)
        os.makedirs(place, exist_ok=True)
        try:
            side = Ours(options, task, place) if system == "tilewright" else Theirs(options, system, task, place, python)
            wall[system] = side.tune()
            side.time()
            sides[system], times[system] = side, []
        except (RuntimeError, OSError, KeyError, ValueError) as e:
            print(f"{task}: {system} is left out: {e}", flush=True)
    for turn in range(options.turns):
        for system in (list(sides) if turn % 2 == 0 else list(sides)[::-1]):
            times[system].append(sides[system].time())
    best = {s: statistics.median(t) for s, t in times.items()}
    for s in best:
        print(f"  {task:22} {s:14} {best[s] * 1e3:9.3f} ms ({min(times[s]) * 1e3:.3f} to {max(times[s]) * 1e3:.3f})   tuned in {wall[s]:7.1f} s", flush=True)
    others = [s for s in best if s != "tilewright"]
    if "tilewright" in best and others:
        fastest = min(others, key=best.get)
        speed, least = best[fastest] / best["tilewright"], max(wall["tilewright"] / wall[s] for s in others)
        print(f"  {task:22} ours / best of the others ({fastest}): speed {speed:.2f} (goal 1.0), wall time {least:.2f} of the quickest (goal 0.5)", flush=True)
        return speed, least
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tw")
    parser.add_argument("--tvm", help="PYTHON or PYTHON:FOLDER")
    parser.add_argument("--meta-schedule", help="PYTHON or PYTHON:FOLDER")
    parser.add_argument("--tasks", default="dense_1024,conv2d_64x56x56,depthwise_144x56x56", help="of " + ", ".join(TASKS))
    parser.add_argument("--systems", default=",".join((*SYSTEMS, "tilewright")))
    parser.add_argument("--trials", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--samples", type=int, default=10, help="repeats in each process")
    parser.add_argument("--tuner", default="ansor", help="of ours")
    parser.add_argument("--keep", help="folder for logs and libraries")
    for hidden in ("--worker", "--task", "--folder", "--work"):
        parser.add_argument(hidden, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        options.system = options.worker
        return worker(options)
    split = lambda text: (text.split(":", 1) + [""])[:2] if text else None
    options.pythons = {**{s: split(options.tvm) for s in TVM_SYSTEMS}, "meta-schedule": split(options.meta_schedule)}
    options.systems = options.systems.split(",")
    missing = [s for s in options.systems if s != "tilewright" and not options.pythons.get(s)]
    if missing:
        print(f"Left out, as no Python was named for them: {', '.join(missing)}")
    print(f"{options.trials} trials, {options.threads} threads, {options.turns} turns of {options.samples} samples")
    with tempfile.TemporaryDirectory() as folder:
        found = [compare(options, task, options.keep or folder) for task in options.tasks.split(",")]
    found = [f for f in found if f]
    if found:
        print(f"geomean of speeds {statistics.geometric_mean(s for s, _ in found):.2f}, least {min(s for s, _ in found):.2f}; most wall time {max(w for _, w in found):.2f}")
    return None


main()
