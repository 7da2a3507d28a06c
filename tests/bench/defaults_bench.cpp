// SPDX-License-Identifier: Apache-2.0
// Default schedules of operators that are bound by memory, on tensors of 64 MiB, against the machine's copy bandwidth on the same threads, interleaved in one
// run. The copies are of 64 MiB into 64 MiB, cut into one piece a thread: the C library's memcpy (which may use non-temporal stores), a loop of plain vector
// stores, and a loop of non-temporal stores; ratios are to memcpy and to the fastest of the three. Bytes of an operator are its inputs and outputs, each
// counted once. Results are checked against the interpreter on samples. --only NAME picks rows, --show 1 prints their loops.
#include <immintrin.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "engine/codegen/codegen.h"
#include "engine/graph/to_dag.h"
#include "engine/lower/lower.h"
#include "engine/measure/check.h"
#include "engine/measure/inputs.h"
#include "engine/measure/signature.h"
#include "engine/runtime/thread_pool.h"
#include "engine/runtime/workspace.h"
#include "engine/space/template.h"
#include "engine/tir/print.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

using Dims = std::vector<int64_t>;
using Values = std::map<std::string, graph::AttrValue>;

struct Net {
  graph::GraphBuilder b{"bench"};
  int input(Dims shape, DType t = kFloat32) { return b.input("x" + std::to_string(b.graph().inputs.size()), {t, std::move(shape)}); }
  int weight(const Dims& shape) { return b.constant("w", HostArray::make(kFloat32, shape)); }
  int op(const std::string& name, std::vector<int> inputs, Values attrs = {}) {
    return bench::need(b.node(name, std::move(inputs), graph::Attrs{std::move(attrs)}))[0];
  }
};

struct Row {
  std::string name;
  std::function<int(Net&)> make;
  std::vector<schedule::LayoutStep> layouts = {};  ///< stage -1 is the output
};

te::DagPtr dag_of(const Row& row) {
  Net net;
  net.b.output(row.make(net));
  const graph::Graph g = std::move(net.b).finish();
  std::vector<int> nodes;
  for (size_t i = 0; i < g.nodes.size(); ++i) nodes.push_back(static_cast<int>(i));
  return bench::need(graph::to_dag(g, nodes, g.outputs)).dag;
}

std::vector<Row> rows() {
  const Dims image{16, 64, 128, 128}, matrix{16384, 1024};
  const auto transpose = [](std::string name, Dims shape, Dims perm) {
    return Row{std::move(name), [=](Net& n) { return n.op("transpose", {n.input(shape)}, {{"perm", perm}}); }};
  };
  const auto reduce = [](std::string name, Dims shape, Dims axes) {
    return Row{std::move(name), [=](Net& n) { return n.op("reduce_sum", {n.input(shape)}, {{"axes", axes}}); }};
  };
  const auto pool = [=](std::string name, const char* op, int64_t kernel, int64_t stride, int64_t pad) {
    return Row{std::move(name), [=](Net& n) {
                 return n.op(op, {n.input(image)}, {{"kernel", Dims{kernel, kernel}}, {"strides", Dims{stride, stride}}, {"pads", Dims(4, pad)}});
               }};
  };
  return {
      {"relu", [=](Net& n) { return n.op("relu", {n.input(image)}); }},
      {"chain: relu(x * a[c] + b[c])",
       [=](Net& n) {
         return n.op("relu", {n.op("add", {n.op("mul", {n.input(image), n.weight({64, 1, 1})}), n.weight({64, 1, 1})})});
       }},
      {"chain: relu(x + y)",
       [=](Net& n) {
         return n.op("relu", {n.op("add", {n.input(image), n.input(image)})});
       }},
      {"chain: x * sigmoid(x)",
       [=](Net& n) {
         const int x = n.input(matrix);
         return n.op("mul", {x, n.op("sigmoid", {x})});
       }},
      {"chain: gelu by erf",
       [=](Net& n) {
         const int x = n.op("add", {n.input(matrix), n.weight({1024})});
         return n.op("mul", {x, n.op("add", {n.op("erf", {n.op("mul", {x, n.weight({1})})}), n.weight({1})})});
       }},
      {"softmax, rows of 1024", [=](Net& n) { return n.op("softmax", {n.input(matrix)}); }},
      {"softmax, rows of 197",
       [=](Net& n) {
         return n.op("softmax", {n.input({85164, 197})});
       }},
      {"softmax over channels",
       [=](Net& n) {
         return n.op("softmax", {n.input(image)}, {{"axis", int64_t{1}}});
       }},
      {"log_softmax, rows of 1024", [=](Net& n) { return n.op("log_softmax", {n.input(matrix)}); }},
      {"layer_norm, rows of 1024",
       [=](Net& n) {
         return n.op("layer_norm", {n.input(matrix), n.weight({1024}), n.weight({1024})});
       }},
      {"layer_norm, rows of 768",
       [=](Net& n) {
         return n.op("layer_norm", {n.input({21845, 768}), n.weight({768}), n.weight({768})});
       }},
      {"instance_norm",
       [=](Net& n) {
         return n.op("instance_norm", {n.input(image), n.weight({64}), n.weight({64})});
       }},
      transpose("transpose 4096x4096", {4096, 4096}, {1, 0}),
      transpose("transpose 4080x4112", {4080, 4112}, {1, 0}),
      transpose("transpose NCHW to NHWC", image, {0, 2, 3, 1}),
      transpose("transpose NHWC to NCHW", {16, 128, 128, 64}, {0, 3, 1, 2}),
      transpose("transpose of attention heads", {8, 2048, 16, 64}, {0, 2, 1, 3}),
      transpose("transpose of attention keys", {8, 16, 2048, 64}, {0, 1, 3, 2}),
      {"layout NCHW to NCHW16c", [=](Net& n) { return n.op("relu", {n.input(image)}); }, {{1, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}}},
      {"layout NCHW16c to NCHW", [=](Net& n) { return n.op("relu", {n.input(image)}); }, {{0, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}}},
      reduce("sum over the last axis", matrix, {1}),
      reduce("sum over the first axis", matrix, {0}),
      reduce("sum over a middle axis", {64, 512, 512}, {1}),
      reduce("sum over all", matrix, {0, 1}),
      {"global mean of NCHW",
       [=](Net& n) {
         return n.op("reduce_mean", {n.input(image)}, {{"axes", Dims{2, 3}}});
       }},
      {"argmax, rows of 1024",
       [=](Net& n) {
         return n.op("argmax", {n.input(matrix)}, {{"axis", int64_t{1}}});
       }},
      pool("max_pool 2x2 by 2", "max_pool2d", 2, 2, 0),
      pool("max_pool 3x3 by 2, padded", "max_pool2d", 3, 2, 1),
      pool("avg_pool 3x3 by 1, padded", "avg_pool2d", 3, 1, 1),
      {"avg_pool 3x3 by 1, NCHW16c",
       [=](Net& n) {
         return n.op("avg_pool2d", {n.input(image)}, {{"kernel", Dims{3, 3}}, {"pads", Dims(4, 1)}});
       },
       {{0, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}, {-1, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}}},
      {"max_pool 3x3 by 2, NCHW16c",
       [=](Net& n) {
         return n.op("max_pool2d", {n.input(image)}, {{"kernel", Dims{3, 3}}, {"strides", Dims{2, 2}}, {"pads", Dims(4, 1)}});
       },
       {{0, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}, {-1, {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {1, 16}}}}},
      {"gather of rows",
       [=](Net& n) {
         return n.op("gather", {n.input({30000, 256}), n.input({65536}, kInt64)}, {{"axis", int64_t{0}}});
       }},
      {"concat of channels",
       [=](Net& n) {
         return n.op("concat", {n.input({16, 24, 128, 128}), n.input({16, 40, 128, 128})}, {{"axis", int64_t{1}}});
       }},
      {"slice of columns",
       [=](Net& n) {
         return n.op("slice", {n.input({16384, 2048})}, {{"starts", Dims{0, 5}}, {"sizes", Dims{16384, 1024}}});
       }},
  };
}

/// A kernel with its arguments in memory.
struct Kernel {
  std::shared_ptr<runtime::LoadedModule> module;
  runtime::KernelFn run = nullptr;
  std::vector<runtime::AlignedBytes> arrays;
  std::vector<void*> args;
};

/// `show`: 1 prints the schedule and the loops, 2 the assembly as well.
Kernel build(Row row, const te::DagPtr& dag, const Target& target, int64_t show) {
  for (schedule::LayoutStep& l : row.layouts)
    if (l.stage < 0) l.stage = dag->outputs.front();
  const schedule::Schedule s = row.layouts.empty() ? space::default_schedule(dag, target) : bench::need(space::rule_schedule(dag, target, row.layouts));
  const tir::Func f = bench::need(lower::lower_and_optimize(s, "kernel", target));
  if (show > 0) std::printf("%s%s", schedule::print_steps(s).c_str(), tir::print(f).c_str());
  if (show > 1) std::printf("%s", bench::need(codegen::build_listing(f, target)).assembly.c_str());
  Kernel k;
  k.module = bench::need(codegen::load_object(bench::need(codegen::build_object({f}, target))));
  k.run = bench::need(k.module->find("kernel"));
  const std::vector<HostArray> inputs = measure::make_inputs(*dag, 1);
  size_t next = 0;
  const std::vector<runtime::ArgSpec> specs = measure::signature_of(s, "kernel").args;
  for (const runtime::ArgSpec& spec : specs) {
    k.arrays.push_back(runtime::allocate_aligned(spec.physical_bytes()));
    if (!spec.output) runtime::pack_layout(spec, inputs[next++].data.data(), k.arrays.back().get());
    k.args.push_back(k.arrays.back().get());
  }
  runtime::ThreadPool pool(1);
  k.run(k.args.data(), pool.api());
  const measure::ReferenceOutput want = bench::need(measure::make_reference(*dag, 1)).outputs.front();
  HostArray plain = HostArray::make(specs.back().dtype, specs.back().shape);
  runtime::unpack_layout(specs.back(), k.arrays.back().get(), plain.data.data());
  std::vector<double> got;
  for (const int64_t p : want.positions) got.push_back(plain.get(p));
  for (int64_t i = 0; want.all && i < plain.num_elements(); ++i) got.push_back(plain.get(i));
  if (const measure::Comparison c = measure::compare(want, got); !c.equal)
    std::printf("%s is wrong: element %lld is %g, expected %g\n", row.name.c_str(), static_cast<long long>(c.at), c.got, c.want);
  return k;
}

/// The three copies.
class Copy {
 public:
  explicit Copy(int64_t bytes) : bytes_(bytes), from_(runtime::allocate_aligned(bytes)), to_(runtime::allocate_aligned(bytes)) {
    std::memset(from_.get(), 1, static_cast<size_t>(bytes));
    std::memset(to_.get(), 2, static_cast<size_t>(bytes));
  }
  /// Least seconds of the fastest of them so far.
  void measure(runtime::ThreadPool& pool) {
    for (way_ = 0; way_ < 3; ++way_) {
      const double s = bench::seconds_of([&] { pool.api()->parallel_for(pool.api()->ctx, pool.threads(), &Copy::piece, this); });
      best_[way_] = std::min(best_[way_], s);
      pieces_ = pool.threads();
    }
  }
  void start(int threads) {
    pieces_ = threads;
    std::fill(std::begin(best_), std::end(best_), INFINITY);
  }
  double gb_per_s(int way) const { return 2e-9 * static_cast<double>(bytes_) / best_[way]; }
  double best() const { return std::max({gb_per_s(0), gb_per_s(1), gb_per_s(2)}); }

 private:
  static void piece(void* self, int64_t begin, int64_t end) {
    const auto& c = *static_cast<Copy*>(self);
    const int64_t size = c.bytes_ / c.pieces_ / 64 * 64, first = begin * size, last = end == c.pieces_ ? c.bytes_ : end * size;
    std::byte* to = c.to_.get();
    const std::byte* from = c.from_.get();
    if (c.way_ == 0) std::memcpy(to + first, from + first, static_cast<size_t>(last - first));
    if (c.way_ == 1) plain(to, from, first, last);
    if (c.way_ == 2) streamed(to, from, first, last);
  }
  static void plain(std::byte* to, const std::byte* from, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 64)
      for (int64_t k = 0; k < 64; k += 16)
        _mm_store_si128(reinterpret_cast<__m128i*>(to + i + k), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i + k)));
  }
  static void streamed(std::byte* to, const std::byte* from, int64_t first, int64_t last) {
    for (int64_t i = first; i < last; i += 64)
      for (int64_t k = 0; k < 64; k += 16)
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i + k), _mm_load_si128(reinterpret_cast<const __m128i*>(from + i + k)));
    _mm_sfence();
  }

  int64_t bytes_;
  runtime::AlignedBytes from_, to_;
  int way_ = 0, pieces_ = 1;
  double best_[3] = {};
};

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const std::string only = options.text("only", "");
  const int64_t show = options.integer("show", 0);
  const int most = static_cast<int>(options.integer("threads", 2));
  const auto rounds = options.integer("rounds", 12);
  Copy copy(int64_t{64} << 20);
  for (int threads = static_cast<int>(options.integer("from", 1)); threads <= most; ++threads) {
    Target target = host_target();
    target.cores = threads;
    std::printf("%d thread%s: time, bandwidth, ratios to memcpy and to the fastest copy of the same moments (memcpy, plain stores, non-temporal stores)\n",
                threads, threads > 1 ? "s" : "");
    for (const Row& row : rows()) {
      if (row.name.find(only) == std::string::npos) continue;
      const te::DagPtr dag = dag_of(row);
      const Kernel k = build(row, dag, target, show);
      runtime::ThreadPool pool(threads);
      copy.start(threads);
      double best = INFINITY;
      for (int64_t round = 0; round < rounds; ++round) {
        copy.measure(pool);
        best = std::min(best, bench::seconds_of([&] { k.run(const_cast<void**>(k.args.data()), pool.api()); }));
      }
      const double rate = 1e-9 * static_cast<double>(te::io_bytes(*dag)) / best;
      std::printf("  %-30s %8.2f ms %7.1f GB/s   %.2f   %.2f   (%.1f, %.1f, %.1f)\n", row.name.c_str(), best * 1e3, rate, rate / copy.gb_per_s(0),
                  rate / copy.best(), copy.gb_per_s(0), copy.gb_per_s(1), copy.gb_per_s(2));
      std::fflush(stdout);
    }
  }
}
