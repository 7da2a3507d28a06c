# SPDX-License-Identifier: Apache-2.0
"""What the peers of networks share; `tw bench` holds this text before each of theirs."""
import os
import statistics
import sys
import time


def random_array(name, shape, kind):
    """An input, seeded. `kind`: a type of numpy's."""
    import numpy

    generator = numpy.random.default_rng(1)
    if kind == numpy.float32:
        return generator.uniform(-1, 1, shape).astype(kind)
    if kind == numpy.int64:
        return generator.integers(0, 2, shape, dtype=kind)
    sys.exit(f"Expected float32 or int64 inputs, found '{name}' of type {kind}")


def answer(answers, version, run):
    """Says the version after some runs; then, for each number of seconds read, the median time of the runs of so long, at least one."""
    for _ in range(5):
        run()
    print(version, file=answers)
    for line in sys.stdin:
        end = time.perf_counter() + float(line)
        times = []
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(statistics.median_low(times), file=answers)
