// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "engine/api/compile.h"
#include "engine/api/tolerance.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"
#include "engine/codegen/codegen.h"
#include "engine/graph/passes/fold_constants.h"
#include "engine/graph/passes/widen_sums.h"
#include "engine/graph/to_dag.h"
#include "engine/lower/lower.h"
#include "engine/measure/check.h"
#include "engine/runtime/thread_pool.h"
#include "engine/runtime/workspace.h"

namespace tw::api {

namespace {

constexpr int kSamples = 8;  ///< elements of each result that the interpreter computes again
constexpr int kDraws = 4;    ///< of signs, to see how far rounding moves a result

Error reference_cancelled() { return Error(ErrorCode::cancelled, "The reference run was cancelled"); }

/// Unscheduled code for every node; equal nodes share a function.
struct NodeKernels {
  std::vector<graph::NodesDag> dags;  ///< per node
  std::vector<std::string> symbols;   ///< per node
  std::unique_ptr<runtime::LoadedModule> module;
};

Expected<NodeKernels> build_kernels(const graph::Graph& g, const Target& target, const StopToken& stop) {
  NodeKernels k;
  std::map<std::string, std::string> known;
  std::vector<tir::Func> funcs;
  for (const graph::Node& n : g.nodes) {
    if (stop.stop_requested()) return reference_cancelled();
    TW_TRY(graph::NodesDag dag, graph::to_dag(g, n));
    const auto [it, fresh] = known.emplace(te::structural_key(*dag.dag), fmt::format("node{}", funcs.size()));
    k.symbols.push_back(it->second);
    if (fresh) {
      TW_TRY(tir::Func f, lower::lower_and_optimize(schedule::Schedule(dag.dag), it->second, target));
      funcs.push_back(std::move(f));
    }
    k.dags.push_back(std::move(dag));
  }
  TW_TRY(const std::vector<std::byte> object, codegen::build_object(funcs, target, {codegen::OptLevel::full}));
  TW_TRY(k.module, codegen::load_object(object));
  return k;
}

/// How far each element moves when the operands are rounded: the most in a few draws of signs, where each number of theirs changes by `tolerance` of itself.
/// Results that cancel (the mean of what was centred before, what a constant row is after it was normalised) cannot be told by their own size.
Expected<std::vector<double>> moved_by_rounding(const te::Dag& dag, std::span<const HostArray> inputs, int output, std::span<const int64_t> positions,
                                                const std::vector<double>& want, double tolerance) {
  std::vector<double> moved(positions.size(), 0.0);
  Rng signs(1);
  for (int draw = 0; draw < kDraws; ++draw) {
    std::vector<HostArray> rounded(inputs.begin(), inputs.end());
    for (HostArray& a : rounded)
      if (a.dtype.is_float())
        for (int64_t i = 0; i < a.num_elements(); ++i) a.set(i, a.get(i) * (1 + (signs.uniform(2) == 0 ? -tolerance : tolerance)));
    TW_TRY(const std::vector<double> values, te::interpret_at(dag, rounded, output, positions));
    for (size_t i = 0; i < values.size(); ++i)
      if (const double d = std::abs(values[i] - want[i]); std::isfinite(d)) moved[i] = std::max(moved[i], d);
  }
  return moved;
}

/// A few elements of each result against the interpreter.
Expected<void> check_node(const graph::Node& n, const te::Dag& dag, std::span<const HostArray> inputs, const std::vector<HostArray>& results) {
  for (size_t o = 0; o < results.size(); ++o) {
    const HostArray& r = results[o];
    if (r.num_elements() == 0) continue;
    const std::vector<int64_t> positions = measure::sample_positions(r.shape, kSamples, o);
    TW_TRY(const std::vector<double> want, te::interpret_at(dag, inputs, static_cast<int>(o), positions));
    double scale = kLeastScale;
    for (int64_t i = 0; i < r.num_elements(); ++i)
      if (const double v = std::abs(r.get(i)); std::isfinite(v)) scale = std::max(scale, v);
    const double tolerance = node_tolerance(n, dag, static_cast<int>(o));
    std::vector<double> moved;
    for (size_t i = 0; i < positions.size(); ++i) {
      const double got = r.get(positions[i]);
      const bool equal = got == want[i] || (std::isnan(got) && std::isnan(want[i]));
      if (equal || std::abs(got - want[i]) <= tolerance * scale) continue;
      if (moved.empty()) {
        TW_TRY(moved, moved_by_rounding(dag, inputs, static_cast<int>(o), positions, want, tolerance));
      }
      if (!(std::abs(got - want[i]) <= moved[i]))
        return Error(ErrorCode::wrong_result, fmt::format("Expected {} at element {} of the unscheduled kernel, found {}", want[i], positions[i], got),
                     fmt::format("node '{}' ({})", printable(n.name), n.op));
    }
  }
  return {};
}

/// Copies arrays into aligned memory, calls the kernel and copies the results out.
Expected<std::vector<HostArray>> call_kernel(runtime::KernelFn fn, const te::Dag& dag, std::span<const HostArray> inputs, const runtime::RuntimeApi* api) {
  std::vector<runtime::AlignedBytes> memory;
  std::vector<void*> args;
  const auto allocate = [&](int64_t bytes) {
    memory.push_back(runtime::allocate_aligned(bytes));
    args.push_back(memory.back().get());
    return memory.back() != nullptr;
  };
  for (const HostArray& a : inputs) {
    if (!allocate(static_cast<int64_t>(a.data.size()))) return Error(ErrorCode::out_of_memory, "No memory for an operand of the reference run");
    std::copy(a.data.begin(), a.data.end(), memory.back().get());
  }
  std::vector<HostArray> results;
  for (const int o : dag.outputs) {
    const ir::Buffer& b = dag.ops[static_cast<size_t>(o)].output;
    results.push_back(HostArray::make(b->dtype, b->shape));
    if (!allocate(static_cast<int64_t>(results.back().data.size()))) return Error(ErrorCode::out_of_memory, "No memory for a result of the reference run");
  }
  if (const int32_t status = fn(args.data(), api); status != 0) return Error(ErrorCode::internal, fmt::format("An unscheduled kernel returned {}", status));
  for (size_t o = 0; o < results.size(); ++o) {
    const std::byte* from = memory[inputs.size() + o].get();
    std::copy(from, from + results[o].data.size(), results[o].data.begin());
  }
  return results;
}

Expected<void> set_inputs(const graph::Graph& g, const std::map<std::string, HostArray>& inputs, std::vector<HostArray>& values) {
  for (const int v : g.inputs) {
    const graph::Value& value = g.values[static_cast<size_t>(v)];
    const auto it = inputs.find(value.name);
    if (it == inputs.end()) return Error(ErrorCode::invalid_argument, fmt::format("Expected an array for input '{}', found none", printable(value.name)));
    const graph::TensorType found{it->second.dtype, it->second.shape};
    if (found != value.type)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected {} for input '{}', found {}", value.type.text(), printable(value.name), found.text()));
    values[static_cast<size_t>(v)] = it->second;
  }
  return {};
}

}  // namespace

Expected<std::vector<HostArray>> run_reference(const graph::Graph& imported, const std::map<std::string, HostArray>& inputs, const Target& target,
                                               StopToken stop) {
  TW_TRY(const graph::Graph folded, graph::fold_constants(imported, target));
  TW_TRY(const graph::Graph g, graph::widen_sums(folded, target));
  TW_TRY(const NodeKernels kernels, build_kernels(g, target, stop));
  std::vector<HostArray> values(g.values.size());
  for (size_t v = 0; v < values.size(); ++v)
    if (g.values[v].constant) values[v] = *g.values[v].constant;
  TW_CHECK(set_inputs(g, inputs, values));
  const std::vector<std::vector<int>> readers = g.consumers();
  const runtime::ThreadPool pool(1, false);
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    if (stop.stop_requested()) return reference_cancelled();
    const graph::Node& n = g.nodes[i];
    const graph::NodesDag& dag = kernels.dags[i];
    std::vector<HostArray> arguments;
    for (const int v : dag.inputs) arguments.push_back(values[static_cast<size_t>(v)]);
    TW_TRY(const runtime::KernelFn fn, kernels.module->find(kernels.symbols[i]));
    TW_TRY(std::vector<HostArray> results, call_kernel(fn, *dag.dag, arguments, pool.api()));
    TW_CHECK(check_node(n, *dag.dag, arguments, results));
    for (size_t o = 0; o < results.size(); ++o) values[static_cast<size_t>(n.outputs[o])] = std::move(results[o]);
    for (const int v : n.inputs) {  // what nothing later reads is not kept
      if (v < 0 || readers[static_cast<size_t>(v)].back() != static_cast<int>(i)) continue;
      if (std::find(g.outputs.begin(), g.outputs.end(), v) == g.outputs.end()) values[static_cast<size_t>(v)] = {};
    }
  }
  std::vector<HostArray> outputs;
  for (const int v : g.outputs) outputs.push_back(values[static_cast<size_t>(v)]);
  return outputs;
}

}  // namespace tw::api
