# SPDX-License-Identifier: Apache-2.0
"""AutoTVM on the tasks of `tuners_bench`: tvm_autotvm.py [--task NAME] [--trials N] [--tuner random|ga|xgb] [--threads N] [--target TARGET]

Prints one JSON line: best time in seconds, trials, failures, seconds that the search took. It needs a `tvm` with AutoTVM, which the package
apache-tvm on PyPI has had up to 0.14 or so; exit code 3 with one sentence where there is none.
"""
import argparse
import importlib
import json
import os
import sys
import time

TASKS = {
    "dense_64x384x384": ("dense_pack.x86", lambda te: (te((64, 384)), te((384, 384)), None, "float32")),
    "conv2d_64x28x28": ("conv2d_NCHWc.x86",
                        lambda te: (te((1, 64, 28, 28)), te((64, 64, 3, 3)), (1, 1), (1, 1, 1, 1), (1, 1), "NCHW", "NCHW", "float32")),
    "depthwise_conv2d_192x28x28": ("depthwise_conv2d_NCHWc.x86",
                                   lambda te: (te((1, 192, 28, 28)), te((192, 1, 3, 3)), (1, 1), (1, 1, 1, 1), (1, 1), "NCHW", "NCHW", "float32")),
}


def leave_out(sentence):
    print(sentence, file=sys.stderr)
    sys.exit(3)


def load():
    try:
        tvm = importlib.import_module("tvm")
    except ImportError as e:
        leave_out(f"AutoTVM is left out: this Python cannot import tvm ({e})")
    try:
        return tvm, importlib.import_module("tvm.autotvm"), importlib.import_module("tvm.topi")
    except ImportError:
        leave_out(f"AutoTVM is left out: tvm {tvm.__version__} no longer contains it")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=sorted(TASKS), default="dense_64x384x384")
    parser.add_argument("--trials", type=int, default=200)
    parser.add_argument("--tuner", choices=["random", "ga", "xgb"], default="xgb")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--target", default="llvm -mcpu=native")
    options = parser.parse_args()
    os.environ["TVM_NUM_THREADS"] = str(options.threads)
    tvm, autotvm, _ = load()
    name, arguments = TASKS[options.task]
    task = autotvm.task.create(name, args=arguments(lambda shape: ("TENSOR", shape, "float32")), target=tvm.target.Target(options.target))
    tuners = {"random": autotvm.tuner.RandomTuner, "ga": autotvm.tuner.GATuner, "xgb": autotvm.tuner.XGBTuner}
    tuner = tuners[options.tuner](task)
    seconds, failures = [], [0]

    def collect(_, inputs, results):
        for result in results:
            if result.error_no == 0:
                seconds.append(min(result.costs))
            else:
                failures[0] += 1

    runner = autotvm.LocalRunner(number=1, repeat=5, min_repeat_ms=2, enable_cpu_cache_flush=False)
    begin = time.perf_counter()
    trials = min(options.trials, len(task.config_space))
    tuner.tune(n_trial=trials, measure_option=autotvm.measure_option(builder=autotvm.LocalBuilder(), runner=runner), callbacks=[collect])
    print(json.dumps({"task": options.task, "tuner": options.tuner, "trials": trials, "failures": failures[0], "space": len(task.config_space),
                      "best_s": min(seconds, default=None), "search_s": time.perf_counter() - begin, "tvm": tvm.__version__}))


main()
