# SPDX-License-Identifier: Apache-2.0
"""Networks of a few random operators against ONNX Runtime: random_networks.py TW [--seeds FROM:TO] [--times] [--single] [--huge] [--keep FOLDER]

Each seed is a network of up to seven operators (random_network.py). Outputs are compared, compiled for one of several processors and one or two threads. With `--times` the tensors are larger, and
the least times of both on one thread are compared; slower networks are listed, the worst first. `--single`: of one operator each, rarer ones too. `--huge`: times over tensors that no
cache keeps, where the places that gathers and scatters name are inputs. `--keep` keeps the files of what differs or is slower. Exit code 0 if nothing failed, 1 if something
did, 3 if the packages `onnx` and `onnxruntime` are not installed.
"""
import argparse
import json
import math
import os
import random
import shutil
import sys
import tempfile
import time

try:
    import numpy
    import onnx
    import onnxruntime
except ImportError:
    sys.exit(3)

import onnxruntime_outputs
import random_network

PROCESSORS = {"": "fpu", "-mcpu=haswell": "avx2", "-mcpu=x86-64-v2": "sse4_2", "-mcpu=znver4": "avx512_bf16"}  # and what a machine lacks that cannot run its code
TIMED_S = 0.12  # of each network, for each side
TABLES = {"Gather": 1, "GatherElements": 1, "GatherND": 1, "ScatterElements": 1, "ScatterND": 1}  # the operand with places


def session_of(file):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])


def free_tables(model):
    """Makes the places that operators read or write inputs of the network; what they were, by name."""
    constants, tables = {c.name: c for c in model.graph.initializer}, {}
    for node in model.graph.node:
        table = constants.get(node.input[TABLES[node.op_type]]) if node.op_type in TABLES else None
        if table is None or table.name in tables:
            continue
        tables[table.name] = onnx.numpy_helper.to_array(table)
        model.graph.input.append(onnx.helper.make_tensor_value_info(table.name, table.data_type, list(table.dims)))
        model.graph.initializer.remove(table)
    return tables


def processor(pick):
    """One of PROCESSORS, or this machine's own where it cannot run the code: a seed picks the same elsewhere."""
    picked = pick.choice(list(PROCESSORS))
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        return picked if PROCESSORS[picked] in file.read().split() else ""


def difference(tw, file, folder, target):
    """What differs, in words; empty if nothing does."""
    for output, error, allowed in onnxruntime_outputs.compare(tw, file, [], folder, target):
        if not error <= 3 * max(allowed, 1e-5):  # theirs has errors of its own
            return f"{output}: error {error:.2e}, allowed {allowed:.2e}"
    return ""


def times(tw, file, folder, seed, tables):
    """Least seconds of a run, ours and theirs."""
    session, compiled, numbers = session_of(file), os.path.join(folder, "m.twx"), numpy.random.RandomState(seed)
    feeds = {i.name: tables[i.name] if i.name in tables else numpy.float32(numbers.standard_normal(i.shape)) for i in session.get_inputs()}
    onnxruntime_outputs.call(tw, "compile", file, "-o", compiled, "--target", "llvm -num-cores=1")

    def ours(repeat):
        return json.loads(onnxruntime_outputs.call(tw, "run", compiled, "--random-input", "--repeat", str(repeat), "--json"))["latency"]["min_s"]

    def theirs():
        least, begin = math.inf, time.perf_counter()
        while time.perf_counter() - begin < TIMED_S:
            start = time.perf_counter()
            session.run(None, feeds)
            least = min(least, time.perf_counter() - start)
        return least

    first = theirs()
    repeat = int(min(2000, max(5, TIMED_S / ours(3))))
    return ours(repeat), min(first, theirs())


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tw")
    parser.add_argument("--seeds", default="0:100")
    parser.add_argument("--times", action="store_true")
    parser.add_argument("--single", action="store_true")
    parser.add_argument("--huge", action="store_true")
    parser.add_argument("--keep")
    options = parser.parse_args()
    onnxruntime.set_default_logger_severity(4)
    failed, ratios, refused = 0, [], 0
    for seed in range(*map(int, options.seeds.split(":"))):
        model = (random_network.single if options.single else random_network.network)(seed, 2 if options.huge else int(options.times))
        tables = free_tables(model) if options.huge else {}
        name = " ".join(n.op_type for n in model.graph.node)
        with tempfile.TemporaryDirectory() as folder:
            problem, slower, file = "", False, os.path.join(folder, "network.onnx")
            onnx.save(model, file)
            try:
                session_of(file)
            except Exception:  # what it does not know is of several kinds
                refused += 1
                continue
            try:
                if options.times or options.huge:
                    ours, theirs = times(options.tw, file, folder, seed, tables)
                    ratios.append((theirs / ours, seed, ours, theirs, name))
                    slower = theirs < ours
                else:
                    pick = random.Random(seed)
                    problem = difference(options.tw, file, folder, f"llvm {processor(pick)} -num-cores={pick.choice([1, 2])}")
            except RuntimeError as e:
                problem = str(e)
            except Exception as e:
                if not type(e).__module__.startswith("onnxruntime."):
                    raise
                refused += 1  # while it runs
                continue
            if problem:
                failed += 1
                print(f"seed {seed}: {name}: {problem}", flush=True)
            if options.keep and (problem or slower):
                os.makedirs(options.keep, exist_ok=True)
                shutil.copy(file, os.path.join(options.keep, f"{seed}.onnx"))
    for ratio, seed, ours, theirs, name in sorted(ratios):
        if ratio < 1:
            print(f"{ratio:.2f}  seed {seed}  ours {ours * 1e6:.1f} us, ONNX Runtime {theirs * 1e6:.1f} us  {name}")
    if ratios:
        print(f"{len(ratios)} networks, ONNX Runtime's time over ours: geometric mean {math.exp(sum(math.log(r[0]) for r in ratios) / len(ratios)):.2f}, {sum(r[0] < 1 for r in ratios)} below 1")
    print(f"{failed} failed, {refused} that ONNX Runtime refuses")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
