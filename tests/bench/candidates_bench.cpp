// SPDX-License-Identifier: Apache-2.0
// How many candidates one core lowers, and lowers and compiles, in a second: random points of a 3x3 convolution and of a dense layer, with the memory settings
// of the worker that builds. For a GPU: lowered, checked against its limits and printed as CUDA; compiled by NVRTC where it is installed; and how long the
// interpreter takes to look for races in a product of 64x64x64.
#include "engine/base/heap.h"
#include "engine/base/rng.h"
#include "engine/codegen/codegen.h"
#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/lower/lower.h"
#include "engine/measure/inputs.h"
#include "engine/simulate/legality.h"
#include "engine/space/template.h"
#include "engine/tir/interp.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

te::DagPtr dense_dag(int64_t n) {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {n, n}, kFloat32), w = b.placeholder("w", {n, n}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {n, n}, {n}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
  return std::move(b).finish({y});
}

te::DagPtr conv_dag() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1, 64, 56, 56}, kFloat32), w = b.placeholder("w", {64, 64, 3, 3}, kFloat32, te::Role::constant);
  const te::Tensor bias = b.placeholder("bias", {64}, kFloat32, te::Role::constant);
  const te::Tensor p = b.compute(
      "pad", {1, 64, 58, 58},
      [&](const te::Indices& i) {
        const ir::Expr inside = (ir::index(1) <= i[2] && i[2] < ir::index(57)) && (ir::index(1) <= i[3] && i[3] < ir::index(57));
        return ir::select(inside, x(i[0], i[1], i[2] - 1, i[3] - 1), ir::fimm(kFloat32, 0));
      },
      "pad");
  const te::Tensor c = b.reduce(
      "conv2d", {1, 64, 56, 56}, {64, 3, 3}, te::Reducer::sum,
      [&](const te::Indices& s, const te::Indices& r) { return p(s[0], r[0], s[2] + r[1], s[3] + r[2]) * w(s[1], r[0], r[1], r[2]); }, "conv2d");
  const te::Tensor y = b.compute("bias_relu", {1, 64, 56, 56}, [&](const te::Indices& i) { return ir::max(c.at(i) + bias(i[1]), ir::fimm(kFloat32, 0)); });
  return std::move(b).finish({y});
}

void measure_cpu(const char* name, const te::DagPtr& dag, const Target& target, int count) {
  const space::Template* t = space::find_template(*dag, target);
  if (!t) return static_cast<void>(std::fprintf(stderr, "%s has no template on %s\n", name, target.str().c_str()));
  const space::ConfigSpace space = t->space(*dag, target);
  codegen::ObjectBuilder builder(target, {.verify = false});
  Rng rng(1);
  std::vector<schedule::Schedule> schedules;
  double apply_s = 0, lower_s = 0, build_s = 0;
  int built = 0;
  while (built < count) {
    const space::ConfigEntity e = bench::need(space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))));
    if (!space.filtered_reason(e).empty()) continue;
    Expected<schedule::Schedule> s = Error();
    apply_s += bench::seconds_of([&] { s = t->apply(dag, target, e); });
    Expected<tir::Func> f = Error();
    lower_s += bench::seconds_of([&] { f = lower::lower_and_optimize(bench::need(s), "kernel", target); });
    build_s += bench::seconds_of([&] { bench::need(builder.build({bench::need(f)})); });
    ++built;
  }
  const double n = built;
  std::printf("%-8s %4d candidates  steps %.2f ms  lowering %.2f ms (%.0f/s)  compile %.2f ms  all %.0f candidates/s/core\n", name, built, apply_s / n * 1e3,
              lower_s / n * 1e3, n / (apply_s + lower_s), build_s / n * 1e3, n / (apply_s + lower_s + build_s));
}

void measure_gpu(const space::Template* t, const te::DagPtr& dag, const Target& target, int count) {
  const space::ConfigSpace space = t->space(*dag, target);
  Rng rng(1);
  double apply_s = 0, lower_s = 0, limits_s = 0, text_s = 0, compile_s = 0;
  int done = 0, refused = 0, compiled = 0;
  const bool nvrtc = codegen::nvrtc_version().has_value();
  while (done < count) {
    const space::ConfigEntity e = bench::need(space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))));
    if (!space.filtered_reason(e).empty()) continue;
    Expected<schedule::Schedule> s = Error();
    apply_s += bench::seconds_of([&] { s = t->apply(dag, target, e); });
    if (!s) continue;
    Expected<tir::Func> f = Error();
    lower_s += bench::seconds_of([&] { f = lower::lower_and_optimize(*s, "kernel", target); });
    Expected<void> legal;
    limits_s += bench::seconds_of([&] { legal = simulate::check_launches(bench::need(f), *target.gpu); });
    ++done;
    if (!legal) {
      ++refused;
      continue;
    }
    Expected<codegen::CudaSource> source = Error();
    text_s += bench::seconds_of([&] { source = codegen::cuda_source(*f); });
    if (!nvrtc || compiled * 10 > done) continue;  // a tenth of them: it takes a hundred times longer
    compile_s += bench::seconds_of([&] { bench::need(codegen::nvrtc_compile(bench::need(source).text, target.gpu->capability)); });
    ++compiled;
  }
  const double n = done;
  std::printf("%-26s %4d candidates on %s, %d refused  steps %.2f ms  lowering %.2f ms  limits %.3f ms  text %.2f ms  all %.0f candidates/s/core", t->name,
              done, target.gpu->name.c_str(), refused, apply_s / n * 1e3, lower_s / n * 1e3, limits_s / n * 1e3, text_s / n * 1e3,
              n / (apply_s + lower_s + limits_s + text_s));
  if (compiled > 0) std::printf("  NVRTC %.0f ms", compile_s / compiled * 1e3);
  std::printf("\n");
}

void measure_race_check(const Target& target) {
  const te::DagPtr dag = dense_dag(64);
  const space::Template* t = space::find_template(*dag, target, "dense_large_batch.gpu");
  if (!t) return static_cast<void>(std::fprintf(stderr, "there is no template of dense layers on %s\n", target.str().c_str()));
  const tir::Func f = bench::need(lower::lower_and_optimize(bench::need(t->apply(dag, target, t->fallback(*dag, target))), "kernel", target));
  std::vector<HostArray> args = measure::make_inputs(*dag, 1);
  args.push_back(HostArray::make(kFloat32, {64, 64}));
  std::printf("product of 64x64x64 in the interpreter, with races looked for: %.0f ms\n",
              bench::seconds_of([&] { bench::need(tir::interpret(f, args)); }) * 1e3);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  keep_freed_memory();
  const Target target = host_target();
  const int count = static_cast<int>(options.integer("count", 100));
  measure_cpu("dense", dense_dag(1024), target, count);
  measure_cpu("conv2d", conv_dag(), target, count);
  const Target gpu = bench::need(parse_target(options.text("gpu", "cuda:a100")));
  for (const te::DagPtr& dag : {dense_dag(1024), conv_dag()})
    for (const space::Template* t : space::alternatives(*dag, gpu)) measure_gpu(t, dag, gpu, count);
  measure_race_check(gpu);
}
