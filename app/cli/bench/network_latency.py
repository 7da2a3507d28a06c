# SPDX-License-Identifier: Apache-2.0
"""What the peers of networks share; `tw bench` holds this text before each of theirs, and runs both: MODEL THREADS SHAPES.

SHAPES is a JSON object from the model's inputs to their sizes, or to the number that an input is fixed at. On descriptor 3 a peer writes its version, or "missing" without its package, or "missing: " and what keeps it from running the model;
then it answers each number of seconds that it reads by the lower median of the times of runs of so long, at least one, after one that does not count.
"""
import json
import os
import statistics
import sys
import time


def make_input(given, own_shape, kind):
    """What stands in SHAPES for an input, as an array. `kind`: a type of numpy's; seeded numbers from -1 to 1, and of integers and truth values 0 and 1."""
    import numpy

    if isinstance(given, int):
        return numpy.full(own_shape, given, kind)
    shape = given
    generator = numpy.random.default_rng(1)
    if numpy.issubdtype(kind, numpy.floating):
        return generator.uniform(-1, 1, shape).astype(kind)
    if numpy.issubdtype(kind, numpy.integer) or kind == numpy.bool_:
        return generator.integers(0, 2, shape).astype(kind)
    raise TypeError(f"no inputs of type {kind} are made")


def serve(start):
    """`start(model, threads, shapes)` gives a version and what runs the model once."""
    answers = os.fdopen(3, "w", buffering=1)
    try:
        version, run = start(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
        for _ in range(5):
            run()
    except ImportError:
        print("missing", file=answers)
        return
    except Exception as problem:  # whatever a framework raises is why it is not compared
        print(f"missing: {type(problem).__name__}: {problem}".replace("\n", " ")[:200], file=answers)
        return
    print(version, file=answers)
    for line in sys.stdin:
        run()
        end = time.perf_counter() + float(line)
        times = []
        while not times or time.perf_counter() < end:
            begin = time.perf_counter()
            run()
            times.append(time.perf_counter() - begin)
        print(statistics.median_low(times), file=answers)
