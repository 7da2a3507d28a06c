// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/simulate/launch_facts.h"
#include "engine/tir/launches.h"
#include "tests/engine/space/templates/cuda/gpu_dags.h"

/// What the tests of templates for GPUs share: their points against the interpreter, which finds races, and through NVRTC where it is installed.
namespace tw::space::testing {

inline const Target& a100() {
  static const Target target = parse_target("cuda:a100").value();
  return target;
}

struct GpuCase {
  const char* name;
  te::DagPtr dag;
  const char* on = "cuda:a100";
  Target target() const { return parse_target(on).value(); }
};
using GpuCases = std::vector<GpuCase>;

inline const Template& gpu_template(const te::DagPtr& dag, const char* name, const Target& target = a100()) {
  const Template* t = find_template(*dag, target, name);
  if (!t) qFatal("no template %s", name);
  return *t;
}
inline int64_t size_of(const te::DagPtr& dag, const char* name) { return gpu_template(dag, name).space(*dag, a100()).size(); }

inline int64_t occurrences(const std::string& text, std::string_view part) {
  int64_t n = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// What is wrong with points of the template, with what the case runs with if nobody chooses a point, and without a template; or nothing.
/// More points, all compiled, on demand: TW_GPU_POINTS=120 makes some 2000 of all templates.
inline std::string problem_of_gpu_points(const char* name, const GpuCase& c) {
  const Target target = c.target();
  const int asked = qEnvironmentVariableIntValue("TW_GPU_POINTS");
  std::string problem = problem_of_points(gpu_template(c.dag, name, target), c.dag, target, asked > 0 ? asked : 40, asked > 0 ? asked : 3);
  if (!problem.empty()) return problem;
  const WithReference expected(c.dag, target.allows_tf32());
  for (const schedule::Schedule& s : {default_schedule(c.dag, target), rule_schedule(c.dag, target, {}).value()})
    if (problem = problem_of(s, target, expected, asked > 0); !problem.empty()) return problem;
  return {};
}

inline bool ends_in_halves(const GpuCase& c) { return c.dag->ops.back().output->dtype.bits == 16; }

/// The same of all templates for 16-bit floats on a GPU whose tensor cores no template takes, and untuned.
inline std::string problem_without_tensor_cores(const GpuCase& c) {
  const Target t4 = parse_target("cuda:t4").value();
  const auto all = alternatives(*c.dag, t4);
  if (all.empty()) return "no template";
  for (const Template* t : all)
    if (std::string problem = problem_of_points(*t, c.dag, t4, 10, 1); !problem.empty()) return problem;
  return problem_of(default_schedule(c.dag, t4), t4, WithReference(c.dag), false);
}

/// What is fetched for many threads goes in vectors, without a barrier on the way: the untuned kernel where it does not, or nothing.
inline std::string problem_of_fetched_halves(const te::DagPtr& dag) {
  const Target t4 = parse_target("cuda:t4").value();
  const auto chosen = fallback(dag, t4);
  if (!chosen) return "no template";
  const Template* t = chosen->space_template;
  const auto source = codegen::cuda_source(lower::lower_and_optimize(t->apply(dag, t4, t->fallback(*dag, t4)).value(), "kernel", t4).value());
  if (!source) return source.error().text();
  const bool in_vectors = occurrences(source->text, "ushort4") + occurrences(source->text, "uint") >= 2;
  return in_vectors && occurrences(source->text, "__syncthreads()") <= 3 ? "" : source->text;
}

/// Whether the template has two ways to unroll loops, of which halves know one.
inline bool writes_loops_out(const char* name, const GpuCase& c) {
  const ConfigSpace space = gpu_template(c.dag, name, c.target()).space(*c.dag, c.target());
  return c.dag->ops.back().output->dtype == kFloat32 &&
         std::any_of(space.knobs().begin(), space.knobs().end(), [](const Knob& knob) { return knob.name == "unroll_explicit"; });
}

/// The two values of unroll_explicit are two texts of one program: what is wrong with a point whose texts differ, or nothing.
inline std::string problem_of_loops_written_out(const char* name, const GpuCase& c) {
  const Target target = c.target();
  const Template& t = gpu_template(c.dag, name, target);
  const ConfigSpace space = t.space(*c.dag, target);
  int64_t stride = 1;
  for (const Knob& knob : space.knobs()) {
    if (knob.name == "unroll_explicit") break;
    stride *= static_cast<int64_t>(knob.candidates.size());
  }
  Rng rng(5);
  for (int tries = 0; tries < 200; ++tries) {
    const ConfigEntity one = space.get(static_cast<int64_t>(rng.uniform(static_cast<uint64_t>(space.size())))).value();
    if (one.integer("unroll_explicit") == 0 || one.integer("auto_unroll_max_step") == 0 || !space.filtered_reason(one).empty()) continue;
    std::vector<codegen::CudaSource> sources;
    std::vector<simulate::LaunchFacts> facts;
    for (const int64_t index : {one.index() - stride, one.index()}) {
      const auto func = lower::lower_and_optimize(t.apply(c.dag, target, space.get(index).value()).value(), "kernel", target).value();
      sources.push_back(codegen::cuda_source(func).value());
      facts.push_back(simulate::launch_facts(func).value().front());
    }
    if (sources[0].text == sources[1].text) continue;
    if (sources[0].text.find("#pragma unroll") == std::string::npos) return "nothing is marked:\n" + sources[0].text;
    if (facts[1].instructions() != facts[0].instructions() || facts[1].code_bytes != facts[0].code_bytes || facts[1].registers != facts[0].registers)
      return "the simulator tells them apart:\n" + sources[0].text;
    if (!codegen::nvrtc_version()) return {};
    const auto marked = codegen::nvrtc_compile(sources[0].text, 80), written = codegen::nvrtc_compile(sources[1].text, 80);
    if (!marked || !written) return (marked ? written : marked).error().text() + "\n" + sources[1].text;
    // Which loads are joined, and whether the loop around all is unrolled as well, is the compiler's choice.
    if (occurrences(written->ptx, "bra") != occurrences(marked->ptx, "bra")) continue;
    for (const char* what : {"fma.rn.f32", "mul.f32", "add.f32", "max.f32", "st.global"})
      if (occurrences(written->ptx, what) != occurrences(marked->ptx, what)) return what + sources[0].text + sources[1].text;
    return {};
  }
  return "no point has two texts";
}

/// Rows of data, one for each case and check that it can stand: its points, what it is without tensor cores, loops that its text writes out.
inline void add_gpu_rows(const char* name, const GpuCases& cases) {
  QTest::addColumn<int>("which");
  QTest::addColumn<QString>("check");
  for (size_t k = 0; k < cases.size(); ++k) {
    const auto add = [&](const char* check) { QTest::addRow("%s, %s", cases[k].name, check) << static_cast<int>(k) << check; };
    add("points");
    if (ends_in_halves(cases[k])) add("without tensor cores");
    if (writes_loops_out(name, cases[k])) add("loops written out");
  }
}
inline std::string problem_of_gpu_row(const char* name, const GpuCases& cases) {
  QFETCH(int, which);
  QFETCH(QString, check);
  const GpuCase& c = cases[static_cast<size_t>(which)];
  return check == "points"              ? problem_of_gpu_points(name, c)
         : check == "loops written out" ? problem_of_loops_written_out(name, c)
                                        : problem_without_tensor_cores(c);
}

/// The untuned points of a template for every GPU of the table: what is wrong with one, or nothing.
inline std::string problem_of_fallbacks(const char* name, const std::vector<te::DagPtr>& dags) {
  for (const target::Gpu& gpu : target::gpu_table())
    for (const te::DagPtr& dag : dags) {
      const Target target = gpu_target(gpu);
      const Template& t = gpu_template(dag, name, target);
      const ConfigEntity e = t.fallback(*dag, target);
      if (e.index() < 0) return std::string(gpu.name) + ": no point";
      if (const auto s = t.apply(dag, target, e); !s) return std::string(gpu.name) + ": " + s.error().text();
    }
  return {};
}

/// A kernel of several stages is one launch: what else the untuned schedule is, or nothing.
inline std::string problem_of_one_launch(const GpuCase& c) {
  const auto func = lower::lower_and_optimize(default_schedule(c.dag, a100()), "kernel", a100());
  if (!func) return func.error().text();
  const auto launches = tir::split_launches(*func);
  if (!launches) return launches.error().text();
  return launches->launches.size() == 1 ? "" : "launches: " + std::to_string(launches->launches.size());
}

}  // namespace tw::space::testing
