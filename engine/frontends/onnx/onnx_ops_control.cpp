// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// The branch is chosen while importing, so the condition must be known.
Results if_(OnnxNode& n) {
  const bool condition = n.number_input(0, "the condition") != 0;
  return n.importer().inline_graph(n.subgraph(condition ? "then_branch" : "else_branch"), n.scope(), {});
}

/// A condition that decides how often a loop runs: known while importing.
bool known_condition(const OnnxNode& n, int v) {
  const HostArray* c = n.constant_of(v);
  if (!c || c->num_elements() != 1) n.unsupported("a loop whose end depends on computed values");
  return c->get_int(0) != 0;
}

int index_constant(OnnxNode& n, int64_t i) {
  HostArray a = HostArray::make(kInt64, {});
  a.set_int(0, i);
  return n.constant(std::move(a));
}

/// Unrolled: every iteration is nodes of its own. Results: the carried values, then per scan output all iterations stacked.
Results loop(OnnxNode& n) {
  const onnx::GraphProto& body = n.subgraph("body");
  const int carried = n.num_inputs() - 2;
  const int scanned = body.output_size() - 1 - carried;
  if (carried < 0 || body.input_size() != carried + 2 || scanned < 0) n.invalid("a body that does not fit the operands");
  const int64_t limit = n.has(0) ? static_cast<int64_t>(n.number_input(0, "the number of iterations")) : onnx_limits::kNodes;
  bool going = !n.has(1) || known_condition(n, n.in(1));
  int condition = n.has(1) ? n.in(1) : n.constant(HostArray{kBool, {}, {std::byte{1}}});
  std::vector<int> state;
  for (int k = 0; k < carried; ++k) state.push_back(n.in(k + 2));
  std::vector<std::vector<int>> slices(static_cast<size_t>(scanned));
  for (int64_t i = 0; i < limit && going; ++i) {
    if (i >= onnx_limits::kNodes) n.unsupported("more iterations than nodes are allowed");
    std::vector<int> operands{index_constant(n, i), condition};
    operands.insert(operands.end(), state.begin(), state.end());
    const Results out = n.importer().inline_graph(body, n.scope(), operands);
    condition = out[0];
    going = known_condition(n, condition);
    state.assign(out.begin() + 1, out.begin() + 1 + carried);
    for (int k = 0; k < scanned; ++k) {
      const int v = out[static_cast<size_t>(1 + carried + k)];
      Dims shape = n.shape(v);
      shape.insert(shape.begin(), 1);
      slices[static_cast<size_t>(k)].push_back(n.emit("reshape", {v}, attrs({{"shape", shape}})));
    }
  }
  for (const std::vector<int>& s : slices) {
    if (s.empty()) n.unsupported("a loop without iterations that collects values");
    state.push_back(n.emit("concat", s, attrs({{"axis", int64_t{0}}})));
  }
  return state;
}

constexpr OnnxOp kOps[] = {{"If", if_}, {"Loop", loop}};

}  // namespace

std::span<const OnnxOp> onnx_ops_control() { return kOps; }

}  // namespace tw::frontends
