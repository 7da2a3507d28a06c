# SPDX-License-Identifier: Apache-2.0
"""Compares outputs with ONNX Runtime's: onnxruntime_outputs.py TW [--tiny] [NETWORK | FILE.onnx[,NAME=SIZE...]]...

Every network, all bundled ones if none is named, is compiled with default schedules, run on random inputs here and there, and checked against the reference as well, which also says what error the
network's operators allow. Sizes that a file leaves open stand behind its name. Exit code 0 if all agree, 1 if one does not, 3 if the package `onnxruntime` is not installed.
"""
import json
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "app", "cli", "bench"))
import network_latency
import onnxruntime_latency

onnxruntime_latency.make_input = network_latency.make_input  # `tw bench` runs both as one text

try:
    import numpy
    import onnxruntime
except ImportError:
    sys.exit(3)


def call(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} ended with {p.returncode}: {p.stderr.strip() or p.stdout.strip()}")
    return p.stdout


def compare(tw, name, flags, folder, target="llvm"):
    """Returns (name of an output, its error relative to the largest magnitude, the error allowed) for each output."""
    model, compiled = os.path.join(folder, "m.onnx"), os.path.join(folder, "m.twx")
    path, *sizes = name.split(",")
    if path.endswith(".onnx"):
        model, sizes = path, [word for s in sizes for word in ("--dim", s)]
    else:
        call(tw, "zoo", "write", name, "-o", model, *flags)
    shapes = {s.rsplit("=", 1)[0]: int(s.rsplit("=", 1)[1]) for s in sizes if s != "--dim"}  # of inputs that are fixed, too
    shapes |= {v["name"]: v["shape"] for v in json.loads(call(tw, "import", model, *sizes, "--json"))["inputs"]}
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    feeds = onnxruntime_latency.feeds_of(session, shapes)
    inputs = []
    for i, (key, array) in enumerate((k, a) for k, a in feeds.items() if isinstance(shapes[k], list)):
        path = os.path.join(folder, f"in{i}.npy")
        numpy.save(path, array)
        inputs += ["--input", f"{key}={path}"]
    theirs = session.run(None, feeds)
    del session
    call(tw, "compile", model, *sizes, "-o", compiled, "--target", target)
    ran = json.loads(call(tw, "run", compiled, *inputs, "--repeat", "1", "--check", "--json", "--output", os.path.join(folder, "out")))
    ours = sorted((f for f in os.listdir(os.path.join(folder, "out")) if f.endswith(".npy")), key=lambda f: int(f.split("_")[0]))
    results = []
    for output, file, want in zip(ran["outputs"], ours, theirs, strict=True):
        got = numpy.load(os.path.join(folder, "out", file))
        if got.shape != want.shape or got.dtype != want.dtype:
            raise RuntimeError(f"{name}: expected {want.dtype}{want.shape}, found {got.dtype}{got.shape}")
        largest = float(numpy.max(numpy.abs(want)))
        error = float(numpy.max(numpy.abs(got.astype(float) - want))) / (largest if largest > 0 else 1)  # a layer that begins with zeros gives nothing else
        results.append((output["name"], error, output["tolerance"]))
    return results


def main():
    tw, names = sys.argv[1], [a for a in sys.argv[2:] if not a.startswith("--")]
    flags = ["--tiny"] if "--tiny" in sys.argv[2:] else []
    onnxruntime.set_default_logger_severity(3)
    wrong = 0
    for name in names or [m["name"] for m in json.loads(call(tw, "zoo", "list", "--json"))["models"]]:
        with tempfile.TemporaryDirectory() as folder:
            try:
                for output, error, allowed in compare(tw, name, flags, folder):
                    good = error <= allowed
                    wrong += not good
                    print(f"{os.path.basename(name):16} {output:24} error {error:.2e} allowed {allowed:.2e} {'agrees' if good else 'DIFFERS'}", flush=True)
            except (RuntimeError, ValueError) as e:
                wrong += 1
                print(f"{name:16} {e}", flush=True)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
