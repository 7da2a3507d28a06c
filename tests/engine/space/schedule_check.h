// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <QtTest>
#include <string>

#include "engine/base/rng.h"
#include "engine/codegen/cuda/cuda_source.h"
#include "engine/codegen/cuda/nvrtc.h"
#include "engine/graph/to_dag.h"
#include "engine/lower/lower.h"
#include "engine/measure/check.h"
#include "engine/measure/inputs.h"
#include "engine/measure/signature.h"
#include "engine/space/template.h"
#include "engine/tir/interp.h"
#include "engine/tir/print.h"
#include "tests/engine/codegen/kernel_runner.h"
#include "tests/engine/measure/packed_input.h"

/// What the tests of templates and default schedules share: small cases, and a check of one schedule against the interpreter of the bare expressions.
namespace tw::space::testing {

using Dims = std::vector<int64_t>;
using Values = std::map<std::string, graph::AttrValue>;

/// Writes one case: a few nodes that become one dag, as fusion would make them.
struct Net {
  graph::GraphBuilder b{"case"};
  int input(Dims shape, DType t = kFloat32) { return b.input("x" + std::to_string(b.graph().inputs.size()), {t, std::move(shape)}); }
  int weight(const Dims& shape, DType t = kFloat32) { return b.constant("w", HostArray::make(t, shape)); }
  int op(const std::string& name, std::vector<int> inputs, Values attrs = {}) {
    return b.node(name, std::move(inputs), graph::Attrs{std::move(attrs)}).value()[0];
  }
};
using Make = std::function<int(Net&)>;

struct Case {
  std::string name;
  Make make;
  std::vector<schedule::LayoutStep> layouts = {};  ///< stage -1 is the output
};

inline te::DagPtr dag_of(const Make& make) {
  Net net;
  const int out = make(net);
  net.b.output(out);
  const graph::Graph g = std::move(net.b).finish();
  std::vector<int> nodes;
  for (size_t i = 0; i < g.nodes.size(); ++i) nodes.push_back(static_cast<int>(i));
  return graph::to_dag(g, nodes, g.outputs).value().dag;
}

inline int conv(Net& n, Dims x, Dims w, int64_t stride, int64_t pad, int64_t groups = 1, const std::string& op = "conv2d") {
  const size_t spatial = x.size() - 2;
  const int in = n.input(x), weight = n.weight(w);
  const Values attrs{{"strides", Dims(spatial, stride)}, {"pads", Dims(2 * spatial, pad)}, {"groups", groups}};
  return n.op(op, {in, weight}, attrs);
}

/// A dag with inputs and what its outputs must be.
struct WithReference {
  explicit WithReference(const te::DagPtr& d, bool tf32 = false)
      : dag(d), inputs(measure::make_inputs(*d, 3)), want(measure::make_reference(*d, 3, {.full_flops = int64_t{1} << 40, .tf32 = tf32}).value()) {}
  te::DagPtr dag;
  std::vector<HostArray> inputs;
  measure::Reference want;
};

/// What is wrong with the schedule's results, or nothing: lowered and interpreted, and compiled if this machine can run code for the target. For a GPU:
/// compiled by NVRTC where it is installed, and only if asked for, for that takes a tenth of a second.
inline std::string problem_of(const schedule::Schedule& s, const Target& target, const WithReference& expected, bool compile = true) {
  tir::PassHooks hooks;
  hooks.verify = true;
  const auto func = lower::lower_and_optimize(s, "kernel", target, hooks);
  if (!func) return func.error().text() + "\n" + schedule::print_steps(s);
  const auto context = [&](const std::string& text) { return target.cpu + ": " + text + "\n" + schedule::print_steps(s) + tir::print(*func); };
  const std::vector<runtime::ArgSpec> specs = measure::signature_of(s, "kernel").args;
  if (specs.size() != expected.inputs.size() + expected.want.outputs.size()) return context("other arguments than the dag has");
  std::vector<HostArray> args;
  for (const runtime::ArgSpec& spec : specs) {
    args.push_back(spec.output ? HostArray::make(spec.dtype, spec.physical_shape()) : tw::testing::packed_input(spec, expected.inputs[args.size()]));
  }
  const auto check = [&](const std::vector<HostArray>& got, const char* how) -> std::string {
    for (size_t o = 0; o < expected.want.outputs.size(); ++o) {
      const size_t at = expected.inputs.size() + o;
      HostArray plain = HostArray::make(specs[at].dtype, specs[at].shape);
      runtime::unpack_layout(specs[at], got[at].data.data(), plain.data.data());
      std::vector<double> values;
      for (int64_t i = 0; i < plain.num_elements(); ++i) values.push_back(plain.get(i));
      const measure::Comparison c = measure::compare(expected.want.outputs[o], values);
      if (!c.equal)
        return context(std::string(how) + ": element " + std::to_string(c.at) + " is " + std::to_string(c.got) + ", expected " + std::to_string(c.want));
    }
    return {};
  };
  std::vector<HostArray> interpreted = args;
  if (const auto ran = tir::interpret(*func, interpreted); !ran) return context(ran.error().text());
  if (const std::string problem = check(interpreted, "interpreted"); !problem.empty()) return problem;
  if (target.gpu) {
    const auto source = codegen::cuda_source(*func);
    if (!source) return context(source.error().text());
    if (!compile || !codegen::nvrtc_version()) return {};
    const auto binary = codegen::nvrtc_compile(source->text, target.gpu->capability);
    return binary ? std::string() : context(binary.error().text() + "\n" + source->text);
  }
  if (target.vector_bits > host_target().vector_bits) return {};
  std::vector<HostArray> compiled = args;
  if (const auto done = codegen::testing::run(*func, compiled, target); !done) return context(done.error().text());
  return check(compiled, "compiled");
}

/// The array of a stage in blocks of `block` channels.
inline schedule::LayoutStep in_blocks(int stage, size_t rank, int64_t block) {
  schedule::LayoutStep step{stage, {}};
  for (size_t d = 0; d < rank; ++d) step.pieces.push_back({static_cast<int>(d), 0});
  step.pieces.push_back({1, block});
  return step;
}

/// What is wrong with a case's schedule by rule, for vectors of 8 numbers and of 16, on one core and on three, or nothing.
inline std::string problem_by_rule(Case c) {
  const WithReference expected(dag_of(c.make));
  for (schedule::LayoutStep& l : c.layouts)
    if (l.stage < 0) l.stage = expected.dag->outputs.front();
  for (const char* name : {"llvm -mcpu=x86-64-v3 -num-cores=1", "llvm -mcpu=x86-64-v3 -num-cores=3", "llvm -mcpu=znver4 -num-cores=3"}) {
    const Target target = parse_target(name).value();
    const schedule::Schedule s = c.layouts.empty() ? default_schedule(expected.dag, target) : rule_schedule(expected.dag, target, c.layouts).value();
    if (std::string problem = problem_of(s, target, expected); !problem.empty()) return problem;
  }
  return {};
}

/// What is wrong with the fallback point of a template or with one of `count` random valid points of its space, or nothing. Code for a GPU is compiled for the
/// first `compiled` of them.
inline std::string problem_of_points(const Template& t, const te::DagPtr& dag, const Target& target, int count, int compiled = 1 << 20) {
  const WithReference expected(dag, target.allows_tf32());
  const ConfigSpace space = t.space(*dag, target);
  std::vector<ConfigEntity> points;
  if (const ConfigEntity point = t.fallback(*dag, target); point.index() >= 0) points.push_back(point);
  Rng rng(1);
  for (int tries = 0; count > 0 && tries < 10000; ++tries) {
    const ConfigEntity e = space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value();
    if (!space.filtered_reason(e).empty()) continue;
    points.push_back(e);
    --count;
  }
  if (points.empty()) return "no point of the space is valid";
  for (const ConfigEntity& e : points) {
    const auto s = t.apply(dag, target, e);
    const std::string problem = s ? problem_of(*s, target, expected, compiled-- > 0) : s.error().text();
    if (!problem.empty()) return e.text() + ": " + problem;
  }
  return {};
}

/// The template for CPUs of that name.
inline const Template& template_named(std::string_view name) {
  for (const Template& t : templates())
    if (t.name == name) return t;
  qFatal("not in the table");
}

/// A case, and the name of the template that its task has first.
struct TemplateCase {
  const char* space;
  Case c;
};

/// A row of data for each case: its number.
inline void add_rows(const std::vector<Case>& cases) {
  QTest::addColumn<int>("number");
  int k = 0;
  for (const Case& c : cases) QTest::newRow(c.name.c_str()) << k++;
}
inline void add_rows(const std::vector<TemplateCase>& cases) {
  std::vector<Case> plain;
  for (const TemplateCase& t : cases) plain.push_back(t.c);
  add_rows(plain);
}

/// Vectors of 8 numbers on one core and of 16 on three.
inline std::vector<Target> narrow_and_wide() {
  return {parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value(), parse_target("llvm -mcpu=znver4 -num-cores=3").value()};
}

/// What is wrong with points of the template for this row's case, or nothing.
inline std::string problem_of_row(const Template& t, const std::vector<Case>& cases, int points) {
  QFETCH(int, number);
  const te::DagPtr dag = dag_of(cases[static_cast<size_t>(number)].make);
  for (const Target& target : narrow_and_wide()) {
    if (!t.matches(*dag, target)) return std::string(t.name) + " does not match for " + target.cpu;
    if (std::string problem = problem_of_points(t, dag, target, points); !problem.empty()) return problem;
  }
  return {};
}
/// The same of the template that the task has first, which must be the case's.
inline std::string problem_of_row(const std::vector<TemplateCase>& cases, int points) {
  QFETCH(int, number);
  const TemplateCase& row = cases[static_cast<size_t>(number)];
  const te::DagPtr dag = dag_of(row.c.make);
  for (const Target& target : narrow_and_wide()) {
    const Template* t = find_template(*dag, target);
    if (!t || std::string_view(t->name) != row.space)
      return "expected " + std::string(row.space) + ", found " + (t ? t->name : "no template") + " for " + target.cpu;
    if (std::string problem = problem_of_points(*t, dag, target, points); !problem.empty()) return problem;
  }
  return {};
}

}  // namespace tw::space::testing
