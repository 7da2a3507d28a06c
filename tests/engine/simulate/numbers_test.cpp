// SPDX-License-Identifier: Apache-2.0
#include <QtTest>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/simulate/kernel_time.h"
#include "engine/target/target.h"
#include "engine/tir/parse.h"

using namespace tw;
using simulate::KernelTime;
using simulate::LaunchFacts;

namespace {

/// Counts of a launch at random, within what kernels have; every other one in few blocks.
LaunchFacts random_launch(Rng& rng) {
  const auto some = [&](double most) { return rng.uniform(4) == 0 ? 0.0 : std::floor(most * rng.uniform_real()); };
  LaunchFacts f;
  f.grid[0] = rng.uniform(2) ? rng.range(1, 40) : rng.range(200, 20000);
  f.grid[1] = rng.range(1, 4);
  f.grid[2] = rng.range(1, 3);
  f.block[0] = static_cast<int>(32 * rng.range(1, 8));
  f.block[1] = static_cast<int>(rng.range(1, 3));
  f.shared_bytes = rng.uniform(2) ? rng.range(0, 40) * 1024 : 0;
  f.registers = static_cast<int>(rng.uniform(4) == 0 ? rng.range(200, 400) : rng.range(20, 120));
  f.fp32 = some(4000);
  f.fp64 = rng.uniform(4) == 0 ? some(200) : 0;
  f.fp16 = rng.uniform(3) == 0 ? some(2000) : 0;
  f.integer = some(2000);
  f.special = some(300);
  f.tensor = rng.uniform(4) == 0 ? some(1e6) : 0;
  f.tensor_instructions = std::floor(f.tensor / 4096);
  f.shared_access = some(800);
  f.global_access = some(200);
  f.control = some(100);
  f.shared_wavefronts = 1.5 * f.shared_access;
  f.load_sectors = some(3000);
  f.store_sectors = some(200);
  f.load_lines = std::floor(f.load_sectors / 3);
  f.barriers = some(40);
  f.dependent_loads = some(60);
  f.code_bytes = rng.range(1, 300) * 1024;
  for (const char* name : {"X", "Y"}) {
    const int64_t block = rng.range(1, 512) * 1024;
    f.arrays.push_back({name, rng.range(block, block * 500), block, {rng.uniform(2) == 0, rng.uniform(2) == 0, rng.uniform(2) == 0}});
  }
  return f;
}

std::string text_of(const KernelTime& t) {
  return fmt::format("total {:.7g} issue {:.7g} arithmetic {:.7g} shared {:.7g} l2 {:.7g} memory {:.7g} latency {:.7g} launch {:.7g} waves {:.7g} bytes {:.7g} registers {} "
                     "spilled {} blocks {}: {}\n",
                     t.total, t.issue, t.arithmetic, t.shared, t.l2, t.memory, t.latency, t.launch, t.waves, t.memory_bytes, t.registers, t.spilled_registers,
                     t.occupancy.blocks, t.limiter());
}

std::string text_of(const LaunchFacts& f) {
  std::string out = fmt::format(
      "grid {} {} {} block {} {} {} shared {} registers {} code {}\n  fp32 {:.7g} fp64 {:.7g} fp16 {:.7g} integer {:.7g} special {:.7g} tensor {:.7g} {:.7g} control {:.7g}\n"
      "  shared accesses {:.7g} wavefronts {:.7g} global accesses {:.7g} sectors {:.7g} {:.7g} lines {:.7g} barriers {:.7g} rounds of loads {:.7g}\n",
      f.grid[0], f.grid[1], f.grid[2], f.block[0], f.block[1], f.block[2], f.shared_bytes, f.registers, f.code_bytes, f.fp32, f.fp64, f.fp16, f.integer, f.special,
      f.tensor, f.tensor_instructions, f.control, f.shared_access, f.shared_wavefronts, f.global_access, f.load_sectors, f.store_sectors, f.load_lines, f.barriers,
      f.dependent_loads);
  for (const simulate::ArrayTraffic& a : f.arrays)
    out += fmt::format("  {} {} bytes, {} of a block, by{}{}{}\n", a.name, a.bytes, a.block_bytes, a.depends[0] ? " x" : "", a.depends[1] ? " y" : "",
                       a.depends[2] ? " z" : "");
  return out;
}

constexpr const char* kHead = "@T.prim_func\n";

/// Kernels as written, so that the numbers are the simulator's alone.
const std::pair<const char*, const char*> kKernels[] = {
    {"copy",
     "def f(A: T.Buffer((8192,), \"float32\"), C: T.Buffer((8192,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
     "    for b in T.thread_binding(32, thread=\"blockIdx.x\"):\n        for x in T.thread_binding(256, thread=\"threadIdx.x\"):\n"
     "            C[b * 256 + x] = A[b * 256 + x] * T.float32(2)\n"},
    {"strided, with a rest",
     "def f(A: T.Buffer((40000,), \"float32\"), C: T.Buffer((5000,), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
     "    for b in T.thread_binding(20, thread=\"blockIdx.y\"):\n        for x in T.thread_binding(256, thread=\"threadIdx.x\"):\n"
     "            if b * 256 + x < 5000:\n                C[b * 256 + x] = exp(A[(b * 256 + x) * 8]) + A[b * 256 + x]\n"},
    {"a tile in shared memory, turned",
     "def f(A: T.Buffer((64, 64), \"float32\"), C: T.Buffer((64, 64), \"float32\")):\n    T.func_attr({\"num_outputs\": 1})\n"
     "    for b in T.thread_binding(4, thread=\"blockIdx.x\"):\n        for c in T.thread_binding(4, thread=\"blockIdx.z\"):\n"
     "            s = T.alloc_buffer((16, 16), \"float32\", scope=\"shared\")\n"
     "            for y in T.thread_binding(16, thread=\"threadIdx.y\"):\n                for x in T.thread_binding(16, thread=\"threadIdx.x\"):\n"
     "                    s[y, x] = A[b * 16 + y, c * 16 + x]\n                    T.tvm_storage_sync(\"shared\")\n"
     "                    C[c * 16 + y, b * 16 + x] = s[x, y]\n"},
    {"sums in registers over a loop that is unrolled in part",
     "def f(A: T.Buffer((128, 256), \"float16\"), B: T.Buffer((256, 4), \"float16\"), C: T.Buffer((128, 4), \"float32\")):\n"
     "    T.func_attr({\"num_outputs\": 1})\n    for b in T.thread_binding(2, thread=\"blockIdx.x\"):\n"
     "        for x in T.thread_binding(64, thread=\"threadIdx.x\"):\n            s = T.alloc_buffer((4,), \"float32\", scope=\"local\")\n"
     "            for j in T.unroll(4):\n                s[j] = T.float32(0)\n"
     "            for k in T.serial(32):\n                for l in T.unroll(8):\n                    for j in T.unroll(4):\n"
     "                        s[j] = s[j] + T.cast(float32, A[b * 64 + x, k * 8 + l]) * T.cast(float32, B[k * 8 + l, j])\n"
     "            for j_1 in T.unroll(4):\n                C[b * 64 + x, j_1] = sqrt(s[j_1])\n"},
    {"doubles and integers",
     "def f(A: T.Buffer((300,), \"float64\"), I: T.Buffer((300,), \"int32\"), C: T.Buffer((300,), \"float64\")):\n    T.func_attr({\"num_outputs\": 1})\n"
     "    for b in T.thread_binding(3, thread=\"blockIdx.x\"):\n        for x in T.thread_binding(100, thread=\"threadIdx.x\"):\n"
     "            for i in T.serial(3):\n                C[b * 100 + x] = A[x * 3 + i] * A[b * 100 + x] + T.cast(float64, I[b * 100 + x] * T.int32(3) + T.int32(1))\n"}};

std::string all_numbers() {
  std::string out;
  for (const auto& [name, text] : kKernels) {
    const auto f = tir::parse_func(std::string(kHead) + text);
    if (!f) return fmt::format("{}: {}", name, f.error().text());
    const auto launches = simulate::launch_facts(*f);
    if (!launches) return fmt::format("{}: {}", name, launches.error().text());
    for (const LaunchFacts& l : *launches) {
      out += fmt::format("{}: {}", name, text_of(l));
      for (const char* gpu : {"cuda:t4", "cuda:a100"}) out += fmt::format("  {}: {}", gpu, text_of(simulate::kernel_time(l, *parse_target(gpu)->gpu)));
    }
  }
  Rng rng(3);
  for (int n = 0; n < 60; ++n) {
    const LaunchFacts f = random_launch(rng);
    const char* const gpus[] = {"cuda:t4", "cuda:a100", "cuda:h200"};
    const char* gpu = gpus[n % 3];
    const std::optional<int> registers = n % 5 == 0 ? std::optional(64) : std::nullopt;
    out += fmt::format("launch {} on {}: {}", n, gpu, text_of(simulate::kernel_time(f, *parse_target(gpu)->gpu, registers)));
  }
  return out;
}

}  // namespace

/// Every number of the simulated GPU, by what it gives: numbers.txt holds counts and times of launches, to seven digits. Who changes them says so by changing the file.
class NumbersTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void areThoseThatAreWrittenDown() {
    const std::string found = all_numbers(), path = TW_TESTS_DIR "/engine/simulate/numbers.txt";
    const auto wanted = read_file(path);
    if (wanted && *wanted == found) return;
    const std::string actual = TW_BIN_DIR "/numbers.actual";
    std::ofstream(actual) << found;
    const std::vector<std::string_view> a = split_lines(wanted ? *wanted : std::string_view()), b = split_lines(found);
    size_t at = 0;
    while (at < a.size() && at < b.size() && a[at] == b[at]) ++at;
    const auto line = [&](const auto& lines) { return at < lines.size() ? std::string(lines[at]) : std::string("no more lines"); };
    QFAIL(qPrintable(QString::fromStdString(fmt::format("line {}:\n  expected {}\n  found    {}\nAll that was found is in {}", at + 1, line(a), line(b), actual))));
  }
};

QTEST_APPLESS_MAIN(NumbersTest)
#include "numbers_test.moc"
