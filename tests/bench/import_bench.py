#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a large model takes to open, and how much memory: import_bench.py TW [--gigabytes 2] [--form matmul|gemm|conv] [--folder DIR] [--repeat 3]

Writes an ONNX model of that many bytes of weights in external data, and imports it. Time is compared with that of reading the file into memory of its own, memory with
the file's size: at its largest, over `tw` and the process that reads for it, with pages that both have counted once (PSS). Exit code 0; 1 if an import fails.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time

SIDE = 4096  # of each weight, a square of float32
MIB = 1 << 20


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytearray([n]))


def field(number, value):
    """A field of a protobuf message: a number, or bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def attribute(name, value):
    listed = isinstance(value, list)
    return field(5, field(1, name) + (b"".join(field(8, v) for v in value) if listed else field(3, value)) + field(20, 7 if listed else 2))


def value(name, shape):
    dims = b"".join(field(1, field(1, d)) for d in shape)
    return field(1, name) + field(2, field(1, field(1, 1) + field(2, dims)))


def weight(name, shape, offset, length):
    entry = {"location": "weights.bin", "offset": str(offset), "length": str(length)}
    return (b"".join(field(1, d) for d in shape) + field(2, 1) + field(8, name) + b"".join(field(13, field(1, k) + field(2, v)) for k, v in entry.items()) +
            field(14, 1))


FORMS = {  # operator, shape of a weight, attributes, shape of the input
    "matmul": ("MatMul", [SIDE, SIDE], b"", [1, 4, SIDE]),
    "gemm": ("Gemm", [SIDE, SIDE], attribute("transB", 1), [4, SIDE]),
    "conv": ("Conv", [SIDE, SIDE, 1, 1], attribute("kernel_shape", [1, 1]), [1, SIDE, 4, 4]),
}


def write_model(folder, form, layers):
    op, shape, attributes, data = FORMS[form]
    length = SIDE * SIDE * 4
    nodes = initializers = b""
    for i in range(layers):
        nodes += field(1, field(1, f"v{i}") + field(1, f"w{i}") + field(2, f"r{i}") + field(4, op) + attributes)
        nodes += field(1, field(1, f"r{i}") + field(2, f"v{i + 1}") + field(4, "Relu"))
        initializers += field(5, weight(f"w{i}", shape, i * length, length))
    graph = nodes + field(2, "large") + initializers + field(11, value("v0", data)) + field(12, value(f"v{layers}", data))
    path = os.path.join(folder, "model.onnx")
    with open(path, "wb") as f:
        f.write(field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, graph))
    with open(os.path.join(folder, "weights.bin"), "wb") as f:
        for i in range(layers):
            block = os.urandom(MIB)
            for _ in range(length // MIB):  # no two alike
                f.write(block)
            f.seek(i * length)
            f.write(b"\0\0\0" + bytes([i]))
            f.seek((i + 1) * length)
    return path


def reading_seconds(path):
    start = time.monotonic()
    with open(path, "rb", buffering=0) as f:
        memory = bytearray(os.path.getsize(path))
        view, done = memoryview(memory), 0
        while done < len(memory):
            done += f.readinto(view[done:done + 64 * MIB])
    return time.monotonic() - start


def tree(pid):
    """A process and what it started."""
    found = [pid]
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children") as f:
                for child in f.read().split():
                    found += tree(int(child))
    except OSError:
        pass
    return found


def memory_of(pid):
    total = 0
    for p in tree(pid):
        try:
            with open(f"/proc/{p}/smaps_rollup") as f:
                total += sum(int(line.split()[1]) * 1024 for line in f if line.startswith("Pss:"))
        except OSError:
            pass
    return total


def import_once(tw, path, watched):
    """Seconds, and if watched bytes at the most: counting pages keeps the counted program waiting."""
    start = time.monotonic()
    p = subprocess.Popen([tw, "import", path, "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    most = [0]

    def watch():
        while watched and p.poll() is None:
            most[0] = max(most[0], memory_of(p.pid))
            time.sleep(0.02)
    watcher = threading.Thread(target=watch)
    watcher.start()
    _, errors = p.communicate()
    seconds = time.monotonic() - start
    watcher.join()
    if p.returncode != 0:
        sys.exit(f"tw import failed: {errors.strip()}")
    return seconds, most[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tw")
    parser.add_argument("--gigabytes", type=float, default=2)
    parser.add_argument("--form", choices=FORMS, default="matmul")
    parser.add_argument("--folder", default=None, help="where the model is written, and left out afterwards")
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    layers = max(1, round(options.gigabytes * (1 << 30) / (SIDE * SIDE * 4)))
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        path = write_model(folder, options.form, layers)
        data = os.path.join(folder, "weights.bin")
        size = os.path.getsize(data)
        print("form    bytes        read       import     times   memory     of the file")
        for _ in range(options.repeat):  # by turns, both from the system's cache of files
            read = reading_seconds(data)
            seconds, _ = import_once(options.tw, path, False)
            _, memory = import_once(options.tw, path, True)
            print(f"{options.form:<7} {size:<12} {read:<8.2f} s {seconds:<8.2f} s {seconds / read:<7.2f} {memory / MIB:<6.0f} MiB {memory / size:.2f}", flush=True)


if __name__ == "__main__":
    main()
