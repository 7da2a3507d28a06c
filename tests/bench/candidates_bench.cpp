// SPDX-License-Identifier: Apache-2.0
// How many candidates one core lowers, and lowers and compiles, in a second: random points of a 3x3 convolution and of a dense layer, with the memory settings
// of the worker that builds.
#include "engine/base/heap.h"
#include "engine/base/rng.h"
#include "engine/codegen/codegen.h"
#include "engine/lower/lower.h"
#include "engine/space/template.h"
#include "tests/bench/bench.h"

using namespace tw;

namespace {

te::DagPtr dense_dag() {
  te::DagBuilder b;
  const te::Tensor x = b.placeholder("x", {1024, 1024}, kFloat32), w = b.placeholder("w", {1024, 1024}, kFloat32, te::Role::constant);
  const te::Tensor y = b.reduce(
      "dense", {1024, 1024}, {1024}, te::Reducer::sum, [&](const te::Indices& s, const te::Indices& r) { return x(s[0], r[0]) * w(s[1], r[0]); }, "dense");
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

void measure(const char* name, const te::DagPtr& dag, const Target& target, int count) {
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

}  // namespace

int main(int argc, char** argv) {
  const bench::Options options(argc, argv);
  keep_freed_memory();
  const Target target = host_target();
  const int count = static_cast<int>(options.integer("count", 100));
  measure("dense", dense_dag(), target, count);
  measure("conv2d", conv_dag(), target, count);
}
