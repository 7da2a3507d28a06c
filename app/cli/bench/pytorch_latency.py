# SPDX-License-Identifier: Apache-2.0
"""PyTorch on a GPU as a peer of `tw bench gpu`, which holds this text and runs it: ORDINAL.

On descriptor 3 it writes its version and that of its libraries, or "missing" without the package, with the reason after a colon if it is there and of no use. Each line of standard input is a case as JSON, answered by
seconds, or by one sentence:
  {"kind": "dense", "m": M, "n": N, "k": K, "dtype": "float32"}                            x [M, K] times the transpose of [N, K]: cuBLAS
  {"kind": "conv2d", "c": C, "h": H, "o": O, "k": K, "stride": S, "pad": P, "groups": G, "tf32": false}    batch 1, with bias and ReLU: cuDNN
  {"kind": "network", "name": "resnet50"}                                                  batch 1, float32, wall time of a run, recorded or eager, whichever is less
Kernels are timed as ours are: recorded, by events in the queue, one call after the level-2 cache was overwritten, or a series of calls below 20 us. Recorded,
because Python puts calls into the queue more slowly than short kernels run.
"""
import json
import os
import statistics
import sys
import time

SAMPLES = 15
SHORT_KERNEL_MS = 0.02
SERIES_MS = 0.2


def event_ms(torch, work):
    begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begin.record()
    work()
    end.record()
    torch.cuda.synchronize()
    return begin.elapsed_time(end)


def recorded(torch, stream, call, times):
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=stream):
        for _ in range(times):
            call()
    return graph.replay


def kernel_seconds(torch, call):
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(10):
            call()
        torch.cuda.synchronize()
        work, inner = recorded(torch, stream, call, 1), 1
        estimate = min(event_ms(torch, work) for _ in range(5))
        cache = torch.empty(2 * torch.cuda.get_device_properties(0).L2_cache_size, dtype=torch.int8, device="cuda")
        if estimate < SHORT_KERNEL_MS:
            inner = min(200, max(2, int(SERIES_MS / max(estimate, 1e-3)) + 1))
            work = recorded(torch, stream, call, inner)
        samples = []
        for _ in range(SAMPLES):
            cache.zero_()
            samples.append(event_ms(torch, work) / inner)
    return 1e-3 * min(samples)


def dense(torch, case):
    torch.backends.cuda.matmul.allow_tf32 = False
    dtype = getattr(torch, case["dtype"])
    x = torch.rand(case["m"], case["k"], device="cuda").to(dtype)
    w = torch.rand(case["n"], case["k"], device="cuda").to(dtype)
    return kernel_seconds(torch, lambda: torch.nn.functional.linear(x, w))


def conv2d(torch, case):
    torch.backends.cudnn.allow_tf32 = case["tf32"]
    torch.backends.cudnn.benchmark = True
    x = torch.rand(1, case["c"], case["h"], case["h"], device="cuda")
    layer = torch.nn.Conv2d(case["c"], case["o"], case["k"], case["stride"], case["pad"], groups=case["groups"]).cuda().eval()
    return kernel_seconds(torch, lambda: torch.relu_(layer(x)))


def network(torch, case):
    import torchvision

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    model = getattr(torchvision.models, case["name"])(weights=None).cuda().eval()
    x = torch.rand(1, 3, 224, 224, device="cuda")

    def seconds(work):
        begin = time.perf_counter()
        work()
        torch.cuda.synchronize()
        return time.perf_counter() - begin

    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(20):
            seconds(lambda: model(x))
        replay = recorded(torch, stream, lambda: model(x), 1)
        return min(statistics.median(seconds(work) for _ in range(50)) for work in (lambda: model(x), replay))


def main(ordinal):
    answers = os.fdopen(3, "w", buffering=1)
    try:
        import torch
    except ImportError:
        print("missing", file=answers)
        return
    if not torch.cuda.is_available():
        print("missing: PyTorch sees no GPU", file=answers)
        return
    torch.cuda.set_device(ordinal)
    print(f"PyTorch {torch.__version__}, CUDA {torch.version.cuda}, cuDNN {torch.backends.cudnn.version()}", file=answers)
    kinds = {"dense": dense, "conv2d": conv2d, "network": network}
    with torch.inference_mode():
        for line in sys.stdin:
            try:
                case = json.loads(line)
                print(kinds[case["kind"]](torch, case), file=answers)
            except Exception as problem:  # whatever a framework raises is the answer
                print(f"{type(problem).__name__}: {problem}".replace("\n", " ")[:200], file=answers)
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main(int(sys.argv[1]))
