// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/frontends/onnx/limits.h"
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

Results branch(OnnxNode& n, bool yes) { return n.importer().inline_graph(n.subgraph(yes ? "then_branch" : "else_branch"), n.scope(), {}); }

/// Both branches are computed and each result is chosen, which needs results of one shape.
Results either_branch(OnnxNode& n, int condition) {
  if (n.type(condition).num_elements() != 1) n.invalid(fmt::format("expected one condition, found {}", n.type(condition).text()));
  const Results yes = branch(n, true), no = branch(n, false);
  if (yes.size() != no.size()) n.invalid(fmt::format("branches of {} and {} results", yes.size(), no.size()));
  const int which = n.reshape(condition, {});
  Results out;
  for (size_t k = 0; k < yes.size(); ++k) {
    if (yes[k] < 0 || no[k] < 0) n.unsupported("branches that give sequences under a condition that is computed at run time");
    if (n.type(yes[k]) != n.type(no[k]))
      n.unsupported(fmt::format("branches that give {} and {} under a condition that is computed at run time; results of one shape can be chosen",
                                n.type(yes[k]).text(), n.type(no[k]).text()));
    const int chosen = yes[k] == no[k] ? yes[k] : n.choose(which, yes[k], no[k]);
    out.push_back(n.narrow(yes[k]) ? n.narrowed(chosen, n.element_type(yes[k])) : chosen);
  }
  return out;
}

/// A branch that is known while importing is taken.
Results if_(OnnxNode& n) {
  const int condition = n.in(0);
  if (n.constant_of(condition)) return branch(n, n.number_input(0, "the condition") != 0);
  try {
    return either_branch(n, condition);
  } catch (Refusal& refusal) {
    // A branch that is never taken may be what cannot be computed.
    if (const std::string ways = n.importer().open_integers(); !ways.empty())
      refusal.error.message += fmt::format(" (a condition that an integer input decides is known with {})", ways);
    throw;
  }
}

/// A condition that decides how often a loop runs: known while importing.
bool known_condition(const OnnxNode& n, int v) {
  const HostArray* c = v < 0 ? nullptr : n.constant_of(v);
  if (!c || c->num_elements() != 1) n.unsupported("a loop whose end depends on computed values");
  return c->get_int(0) != 0;
}

/// What an iteration gives to be stacked.
int stacked(const OnnxNode& n, int v) {
  if (v < 0) n.unsupported("iterations that give sequences or optional values to be stacked");
  return v;
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
  for (int k = 0; k < carried; ++k) state.push_back(n.has(k + 2) ? n.any(k + 2) : n.in(k + 2));  // sequences too
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
      slices[static_cast<size_t>(k)].push_back(stacked(n, out[static_cast<size_t>(1 + carried + k)]));
    }
  }
  for (const std::vector<int>& s : slices) {
    if (s.empty()) n.unsupported("a loop without iterations that collects values");
    state.push_back(n.stack(s, 0));
  }
  return state;
}

/// How one scan reads its inputs and stacks its outputs.
struct ScanForm {
  Dims in_axes, out_axes, in_backwards, out_backwards;
};

/// Unrolled. Results: the last state, then per scan output all iterations stacked.
Results scan_once(OnnxNode& n, const std::vector<int>& initial, const std::vector<int>& sequences, const ScanForm& form) {
  const onnx::GraphProto& body = n.subgraph("body");
  const size_t states = initial.size(), scanned = form.out_axes.size();
  int64_t length = -1;
  for (size_t k = 0; k < sequences.size(); ++k) {
    const int64_t axis = n.axis(form.in_axes[k], n.rank(sequences[k])), extent = n.shape(sequences[k])[static_cast<size_t>(axis)];
    if (length >= 0 && extent != length) n.invalid(fmt::format("sequences of {} and {} elements", length, extent));
    length = extent;
  }
  if (length < 1 || length > onnx_limits::kNodes) n.unsupported(fmt::format("a scan over {} elements", length));
  std::vector<int> state = initial;
  std::vector<std::vector<int>> results(scanned);
  for (int64_t i = 0; i < length; ++i) {
    std::vector<int> operands = state;
    for (size_t k = 0; k < sequences.size(); ++k) {
      const int64_t axis = n.axis(form.in_axes[k], n.rank(sequences[k]));
      operands.push_back(n.select(sequences[k], axis, form.in_backwards[k] ? length - 1 - i : i));
    }
    const Results out = n.importer().inline_graph(body, n.scope(), operands);
    state.assign(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(states));
    for (size_t k = 0; k < scanned; ++k) results[k].push_back(stacked(n, out[states + k]));
  }
  for (size_t k = 0; k < scanned; ++k) {
    std::vector<int>& parts = results[k];
    if (form.out_backwards[k]) std::reverse(parts.begin(), parts.end());
    state.push_back(n.stack(parts, n.axis(form.out_axes[k], n.rank(parts[0]) + 1)));
  }
  return state;
}

Results scan(OnnxNode& n) {
  const onnx::GraphProto& body = n.subgraph("body");
  const int64_t sequences = n.integer("num_scan_inputs", 0);
  const int first = n.opset() < 9 ? 1 : 0;  // after the lengths of the sequences, which opset 8 had
  const int64_t states = n.num_inputs() - first - sequences;
  if (sequences < 1 || states < 0 || body.input_size() != states + sequences || body.output_size() < states) n.invalid("a body that does not fit the operands");
  if (first == 1 && n.has(0)) n.unsupported("sequences of different lengths");
  const auto inputs = static_cast<size_t>(sequences), outputs = static_cast<size_t>(body.output_size() - states);
  const auto list = [&](const char* name, size_t count) {
    const Dims v = n.integers(name, Dims(count, 0));
    if (v.size() != count) n.invalid(fmt::format("expected {} numbers in '{}', found {}", count, name, v.size()));
    return v;
  };
  std::vector<int> all;
  for (int k = first; k < n.num_inputs(); ++k) all.push_back(n.in(k));
  const auto split = all.begin() + static_cast<std::ptrdiff_t>(states);
  if (first == 0) {
    const ScanForm form{list("scan_input_axes", inputs), list("scan_output_axes", outputs), list("scan_input_directions", inputs),
                        list("scan_output_directions", outputs)};
    return scan_once(n, {all.begin(), split}, {split, all.end()}, form);
  }
  // Opset 8: everything has a batch dimension in front, and every sequence of the batch is scanned by itself.
  const ScanForm form{Dims(inputs, 0), Dims(outputs, 0), list("directions", inputs), Dims(outputs, 0)};
  const int64_t batch = n.rank(all[0]) > 0 ? n.shape(all[0])[0] : 0;
  std::vector<std::vector<int>> results(static_cast<size_t>(states) + outputs);
  for (int64_t b = 0; b < batch; ++b) {
    std::vector<int> one;
    for (const int v : all) {
      if (n.rank(v) < 1 || n.shape(v)[0] != batch) n.invalid(fmt::format("expected a batch of {}, found {}", batch, shape_text(n.shape(v))));
      one.push_back(n.select(v, 0, b));
    }
    const auto cut = one.begin() + static_cast<std::ptrdiff_t>(states);
    const Results out = scan_once(n, {one.begin(), cut}, {cut, one.end()}, form);
    for (size_t k = 0; k < results.size(); ++k) results[k].push_back(stacked(n, out[k]));
  }
  Results stacks;
  for (const std::vector<int>& parts : results) stacks.push_back(n.stack(parts, 0));
  return stacks;
}

constexpr OnnxOp kControlOps[] = {{"If", if_, Narrow::taken}, {"Loop", loop, Narrow::taken}, {"Scan", scan, Narrow::taken}};

}  // namespace

std::span<const OnnxOp> onnx_ops_control() { return kControlOps; }

}  // namespace tw::frontends
