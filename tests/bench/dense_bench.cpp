// SPDX-License-Identifier: Apache-2.0
// Dense layers of one size, tuned at random, against OpenBLAS's sgemm and the processor's multiply-add peak, on the same threads, interleaved in one run.
// Our weights are packed ahead of time, as a network's are; OpenBLAS packs on every call. Both figures are printed with the ratio.
#include <cblas.h>

#include <algorithm>
#include <cmath>

#include "engine/base/json.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/measure/measure.h"
#include "engine/measure/peak.h"
#include "engine/measure/signature.h"
#include "engine/runtime/thread_pool.h"
#include "engine/runtime/workspace.h"
#include "engine/tune/session.h"
#include "tests/bench/bench.h"

extern "C" void openblas_set_num_threads(int);

using namespace tw;

namespace {

class KeepAll : public records::RecordSink {
 public:
  Expected<void> store(const records::Task&, const std::vector<records::Record>& records) override {
    for (const records::Record& r : records)
      if (r.result.ok() && r.result.verified && (!best || r.result.seconds() < best->result.seconds())) best = r;
    return {};
  }
  std::optional<records::Record> best;
};

te::DagPtr dense_dag(int64_t m, int64_t n, int64_t k) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {m, k}, kFloat32), w = b.placeholder("w", {n, k}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {m, n}, {k}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({y});
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  const int64_t n = options.integer("n", 1024), m = options.integer("m", n), k = options.integer("k", n);
  const int threads = static_cast<int>(options.integer("threads", 1));
  Target target = host_target();
  target.cores = threads;
  const records::Task task = records::make_task("dense", dense_dag(m, n, k), target);

  auto builder = bench::need(measure::local_builder({}));
  auto runner = bench::need(measure::local_runner({}));
  KeepAll sink;
  tune::SessionOptions session;
  session.trials = options.integer("trials", 200);
  session.seed = static_cast<uint64_t>(options.integer("seed", 1));
  const double tuning_s = bench::seconds_of([&] { bench::need(tune::run_session({{task}}, session, *builder, *runner, sink, {}, {})); });
  if (!sink.best) return std::fprintf(stderr, "No trial gave a verified time\n"), 1;

  const schedule::Schedule s = bench::need(schedule::Schedule::replay(task.dag, sink.best->candidate.steps));
  const tir::Func f = bench::need(lower::lower_and_optimize(s, "dense", target));
  const auto module = bench::need(codegen::load_object(bench::need(codegen::build_object({f}, target))));
  const runtime::KernelFn kernel = bench::need(module->find("dense"));
  const runtime::KernelSignature signature = measure::signature_of(s, "dense");

  const auto fill = [](std::vector<float>& v) {
    for (size_t i = 0; i < v.size(); ++i) v[i] = static_cast<float>((i * 2654435761u >> 8) % 2001) / 1000.0f - 1.0f;
  };
  std::vector<float> w(static_cast<size_t>(n * k)), want(static_cast<size_t>(m * n));
  fill(w);
  const runtime::AlignedBytes a = runtime::allocate_aligned(m * k * 4), packed = runtime::allocate_aligned(signature.args[1].physical_bytes()),
                              c = runtime::allocate_aligned(m * n * 4);
  std::vector<float> av(static_cast<size_t>(m * k));
  fill(av);
  std::copy(av.begin(), av.end(), reinterpret_cast<float*>(a.get()));
  runtime::pack_layout(signature.args[1], reinterpret_cast<const std::byte*>(w.data()), packed.get());
  void* args[] = {a.get(), packed.get(), c.get()};

  runtime::ThreadPool pool(threads);
  openblas_set_num_threads(threads);
  const auto ours = [&] { kernel(args, pool.api()); };
  const auto theirs = [&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0f, reinterpret_cast<float*>(a.get()),
                static_cast<int>(k), w.data(), static_cast<int>(k), 0.0f, want.data(), static_cast<int>(n));
  };
  ours();
  theirs();
  double error = 0, scale = 0, best_ours = INFINITY, best_theirs = INFINITY;
  for (size_t i = 0; i < want.size(); ++i) {
    error = std::max(error, static_cast<double>(std::abs(want[i] - reinterpret_cast<float*>(c.get())[i])));
    scale = std::max(scale, static_cast<double>(std::abs(want[i])));
  }
  for (int round = 0; round < 30; ++round) {
    best_ours = std::min(best_ours, bench::seconds_of(ours));
    best_theirs = std::min(best_theirs, bench::seconds_of(theirs));
  }
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k), peak = measure::measure_peak_flops(0.5) * threads;
  std::printf("dense %lldx%lldx%lld, %d threads, %lld trials in %.1f s, configuration %lld\n", static_cast<long long>(m), static_cast<long long>(n),
              static_cast<long long>(k), threads, static_cast<long long>(session.trials), tuning_s, static_cast<long long>(sink.best->candidate.index));
  std::printf("  %s\n", dump_json(sink.best->candidate.config).c_str());
  std::printf("  ours      %8.1f us  %7.1f GFLOP/s  %.3f of the multiply-add peak (%.1f GFLOP/s)\n", best_ours * 1e6, flops / best_ours * 1e-9,
              flops / best_ours / peak, peak * 1e-9);
  std::printf("  OpenBLAS  %8.1f us  %7.1f GFLOP/s  %.3f of the peak  (%s)\n", best_theirs * 1e6, flops / best_theirs * 1e-9, flops / best_theirs / peak,
              openblas_get_config());
  std::printf("  ours / OpenBLAS (speed): %.3f   largest difference, relative: %.2e\n", best_theirs / best_ours, error / scale);
}
