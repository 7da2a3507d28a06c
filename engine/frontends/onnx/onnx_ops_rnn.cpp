// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <map>

#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// What RNN, GRU and LSTM share. The sequence is unrolled: its length is static, and every step is nodes of its own.
/// Source: RNN, GRU and LSTM in the ONNX operator reference.
struct Recurrence {
  OnnxNode& n;
  int64_t gates;  ///< blocks of hidden rows in W and R
  int64_t seq = 0, batch = 0, hidden = 0, directions = 0;
  int x = -1;    ///< [seq, batch, in]
  Dims lengths;  ///< per batch entry; empty if all are `seq`
  std::vector<std::string> activations;
  std::map<std::array<int64_t, 4>, int> blocks;  ///< parts of weights already cut out, shared by all steps
};

std::string activation_op(const OnnxNode& n, const std::string& name) {
  if (name == "Sigmoid") return "sigmoid";
  if (name == "Tanh") return "tanh";
  if (name == "Relu") return "relu";
  n.unsupported(fmt::format("activation '{}'", printable(name.substr(0, 64))));
}

Recurrence open(OnnxNode& n, int64_t gates, const std::vector<std::string>& defaults) {
  Recurrence r{n, gates, 0, 0, 0, 0, -1, {}, {}, {}};
  if (n.has_attr("clip")) n.unsupported("clipped cells");
  if (n.rank(n.in(0)) != 3 || n.rank(n.in(1)) != 3 || n.rank(n.in(2)) != 3) n.invalid("expected data and weights of rank 3");
  r.x = n.integer("layout", 0) ? n.transpose(n.in(0), {1, 0, 2}) : n.in(0);
  r.seq = n.shape(r.x)[0];
  r.batch = n.shape(r.x)[1];
  r.hidden = n.shape(n.in(2))[2];
  r.directions = n.shape(n.in(1))[0];
  const std::string direction = n.text("direction", "forward");
  if (r.directions != (direction == "bidirectional" ? 2 : 1))
    n.invalid(fmt::format("{} weights for direction '{}'", r.directions, printable(direction.substr(0, 64))));
  if (n.shape(n.in(1))[1] != gates * r.hidden || n.shape(n.in(2)) != Dims{r.directions, gates * r.hidden, r.hidden})
    n.invalid("weights of inconsistent shapes");
  for (const std::string& a : n.texts("activations")) r.activations.push_back(activation_op(n, a));
  while (r.activations.size() < defaults.size() * static_cast<size_t>(r.directions)) r.activations.push_back(defaults[r.activations.size() % defaults.size()]);
  if (n.has(4)) r.lengths = n.integers_input(4, "the sequence lengths");
  if (std::all_of(r.lengths.begin(), r.lengths.end(), [&](int64_t l) { return l == r.seq; })) r.lengths.clear();
  if (!r.lengths.empty() && static_cast<int64_t>(r.lengths.size()) != r.batch) n.invalid("expected one length a batch entry");
  if (!r.lengths.empty() && direction != "forward") n.unsupported("reverse sequences of different lengths");
  return r;
}

/// Row block [from, from + count) of direction d in a weight [directions, rows, columns] or a bias [directions, rows].
int block(Recurrence& r, int v, int64_t d, int64_t from, int64_t count) {
  const auto [it, fresh] = r.blocks.emplace(std::array<int64_t, 4>{v, d, from, count}, -1);
  if (!fresh) return it->second;
  const int one = r.n.slice(r.n.slice(v, 0, d, 1), 1, from, count);
  Dims shape = r.n.shape(one);
  shape.erase(shape.begin());
  return it->second = r.n.reshape(one, shape);
}

/// Operand `i` of [directions, batch, hidden] (batch first with layout 1) for direction d, or zeros.
int initial(Recurrence& r, int i, int64_t d) {
  if (!r.n.has(i)) return r.n.constant(HostArray::make(r.n.dtype(r.x), {r.batch, r.hidden}));
  const int v = r.n.integer("layout", 0) ? r.n.transpose(r.n.in(i), {1, 0, 2}) : r.n.in(i);
  return r.n.reshape(r.n.slice(v, 0, d, 1), {r.batch, r.hidden});
}

/// Input projections of all steps at once: [seq * batch, gates * hidden], with the input bias added.
int projections(Recurrence& r, int64_t d) {
  OnnxNode& n = r.n;
  const int64_t width = n.shape(r.x)[2], rows = r.gates * r.hidden;
  std::vector<int> operands{n.reshape(r.x, {r.seq * r.batch, width}), block(r, n.in(1), d, 0, rows)};
  if (n.shape(n.in(1))[2] != width) n.invalid("the weights do not fit the data's width");
  if (n.has(3)) operands.push_back(block(r, n.in(3), d, 0, rows));
  return n.emit("dense", operands);
}

int recurrent_bias(Recurrence& r, int64_t d, int64_t from, int64_t count) { return r.n.has(3) ? block(r, r.n.in(3), d, r.gates * r.hidden + from, count) : -1; }
int dense(OnnxNode& n, int x, int w, int bias) { return bias >= 0 ? n.emit("dense", {x, w, bias}) : n.emit("dense", {x, w}); }

struct State {
  int h, c = -1;
};
using Cell = State (*)(Recurrence& r, int64_t d, int projected, const State& s);

/// `fresh` where the step lies inside the sequence, else `old`.
int masked(Recurrence& r, int64_t step, int fresh, int old) {
  if (r.lengths.empty()) return fresh;
  HostArray inside = HostArray::make(kBool, {r.batch, 1});
  for (int64_t b = 0; b < r.batch; ++b) inside.set_int(b, step < r.lengths[static_cast<size_t>(b)]);
  return r.n.emit("where", {r.n.constant(std::move(inside)), fresh, old});
}

/// Runs one direction; returns the state after the last step and every step's output [1, 1, batch, hidden] in data order.
State run_direction(Recurrence& r, int64_t d, bool reverse, Cell cell, bool has_c, std::vector<int>& steps) {
  OnnxNode& n = r.n;
  State s{initial(r, 5, d), has_c ? initial(r, 6, d) : -1};
  const int all = projections(r, d), zero = n.constant(HostArray::make(n.dtype(r.x), {r.batch, r.hidden}));
  steps.assign(static_cast<size_t>(r.seq), -1);
  for (int64_t k = 0; k < r.seq; ++k) {
    const int64_t t = reverse ? r.seq - 1 - k : k;
    const State next = cell(r, d, n.slice(all, 0, t * r.batch, r.batch), s);
    steps[static_cast<size_t>(t)] = n.reshape(masked(r, t, next.h, zero), {1, 1, r.batch, r.hidden});
    s.h = masked(r, t, next.h, s.h);
    if (has_c) s.c = masked(r, t, next.c, s.c);
  }
  return s;
}

int joined(OnnxNode& n, const std::vector<int>& parts, int64_t axis) { return parts.size() == 1 ? parts[0] : n.emit("concat", parts, attrs({{"axis", axis}})); }

Results run(Recurrence r, Cell cell, bool has_c) {
  OnnxNode& n = r.n;
  const bool reverse = n.text("direction", "forward") == "reverse", batch_first = n.integer("layout", 0) != 0;
  std::vector<int> sequences, last_h, last_c;
  for (int64_t d = 0; d < r.directions; ++d) {
    std::vector<int> steps;
    const State s = run_direction(r, d, reverse || d == 1, cell, has_c, steps);
    sequences.push_back(joined(n, steps, 0));
    last_h.push_back(n.reshape(s.h, {1, r.batch, r.hidden}));
    if (has_c) last_c.push_back(n.reshape(s.c, {1, r.batch, r.hidden}));
  }
  const auto states = [&](const std::vector<int>& v) { return batch_first ? n.transpose(joined(n, v, 0), {1, 0, 2}) : joined(n, v, 0); };
  const int y = joined(n, sequences, 1);
  return {batch_first ? n.transpose(y, {2, 0, 1, 3}) : y, states(last_h), has_c ? states(last_c) : -1};
}

const std::string& activation(const Recurrence& r, int64_t d, size_t which, size_t per_direction) {
  return r.activations[static_cast<size_t>(d) * per_direction + which];
}

State rnn_cell(Recurrence& r, int64_t d, int projected, const State& s) {
  const int sum = r.n.binary("add", projected, dense(r.n, s.h, block(r, r.n.in(2), d, 0, r.hidden), recurrent_bias(r, d, 0, r.hidden)));
  return {r.n.emit(activation(r, d, 0, 1), {sum})};
}

/// Gates z, r, h; linear_before_reset moves the reset gate behind the recurrent product.
State gru_cell(Recurrence& r, int64_t d, int projected, const State& s) {
  OnnxNode& n = r.n;
  const int64_t H = r.hidden;
  const auto gate = [&](int64_t k) {
    const int sum = n.binary("add", n.slice(projected, 1, k * H, H), dense(n, s.h, block(r, n.in(2), d, k * H, H), recurrent_bias(r, d, k * H, H)));
    return n.emit(activation(r, d, 0, 2), {sum});
  };
  const int z = gate(0), reset = gate(1), weight = block(r, n.in(2), d, 2 * H, H), bias = recurrent_bias(r, d, 2 * H, H);
  const int recurrent =
      n.integer("linear_before_reset", 0) ? n.binary("mul", reset, dense(n, s.h, weight, bias)) : dense(n, n.binary("mul", reset, s.h), weight, bias);
  const int candidate = n.emit(activation(r, d, 1, 2), {n.binary("add", n.slice(projected, 1, 2 * H, H), recurrent)});
  const int kept = n.binary("mul", z, s.h), fresh = n.binary("mul", n.binary("sub", n.scalar(n.dtype(z), 1), z), candidate);
  return {n.binary("add", fresh, kept)};
}

/// Gates i, o, f, c with optional peepholes P of [directions, 3 * hidden] in the order i, o, f.
State lstm_cell(Recurrence& r, int64_t d, int projected, const State& s) {
  OnnxNode& n = r.n;
  const int64_t H = r.hidden;
  const int sums = n.binary("add", projected, dense(n, s.h, block(r, n.in(2), d, 0, 4 * H), recurrent_bias(r, d, 0, 4 * H)));
  const auto gate = [&](int64_t k, int cell, size_t act) {
    int v = n.slice(sums, 1, k * H, H);
    if (cell >= 0 && n.has(7)) v = n.binary("add", v, n.binary("mul", block(r, n.in(7), d, k * H, H), cell));
    return n.emit(activation(r, d, act, 3), {v});
  };
  const int i = gate(0, s.c, 0), f = gate(2, s.c, 0), candidate = gate(3, -1, 1);
  const int c = n.binary("add", n.binary("mul", f, s.c), n.binary("mul", i, candidate));
  const int o = gate(1, c, 0);
  return {n.binary("mul", o, n.emit(activation(r, d, 2, 3), {c})), c};
}

Results rnn(OnnxNode& n) { return run(open(n, 1, {"tanh"}), rnn_cell, false); }
Results gru(OnnxNode& n) { return run(open(n, 3, {"sigmoid", "tanh"}), gru_cell, false); }
Results lstm(OnnxNode& n) {
  if (n.integer("input_forget", 0)) n.unsupported("coupled input and forget gates");
  return run(open(n, 4, {"sigmoid", "tanh", "tanh"}), lstm_cell, true);
}

constexpr OnnxOp kRnnOps[] = {{"GRU", gru}, {"LSTM", lstm}, {"RNN", rnn}};

}  // namespace

std::span<const OnnxOp> onnx_ops_rnn() { return kRnnOps; }

}  // namespace tw::frontends
