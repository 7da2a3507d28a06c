// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/aten.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

// Recurrent layers, unrolled: the length of a sequence is known, and every step is nodes of its own.
// Source: torch.nn.RNN, LSTM and GRU in PyTorch's documentation.

/// Parameters of one direction of one layer: [gates * hidden, in], [gates * hidden, hidden] and two biases, -1 without.
struct RecurrentWeights {
  int input, state, input_bias = -1, state_bias = -1;
};
struct RecurrentState {
  int h = -1, c = -1;  ///< [batch, hidden]
};
/// One step from the projected input [batch, gates * hidden].
using RecurrentCell = RecurrentState (*)(TorchNode& n, int projected, const RecurrentState& s, const RecurrentWeights& w);

int affine(TorchNode& n, int x, int w, int bias) { return bias >= 0 ? n.emit("dense", {x, w, bias}) : n.emit("dense", {x, w}); }
/// Columns of gate k.
int gate_of(TorchNode& n, int all, int64_t k, int64_t hidden) { return n.slice(all, 1, k * hidden, hidden); }

template <bool kRelu>
RecurrentState simple_cell(TorchNode& n, int projected, const RecurrentState& s, const RecurrentWeights& w) {
  return {n.emit(kRelu ? "relu" : "tanh", {n.binary("add", projected, affine(n, s.h, w.state, w.state_bias))})};
}
/// Gates i, f, g, o.
RecurrentState lstm_step(TorchNode& n, int projected, const RecurrentState& s, const RecurrentWeights& w) {
  const int64_t hidden = n.shape(s.h)[1];
  const int all = n.binary("add", projected, affine(n, s.h, w.state, w.state_bias));
  const auto gate = [&](int64_t k, const char* f) { return n.emit(f, {gate_of(n, all, k, hidden)}); };
  const int kept = n.binary("mul", gate(1, "sigmoid"), s.c), fresh = n.binary("mul", gate(0, "sigmoid"), gate(2, "tanh"));
  const int c = n.binary("add", kept, fresh);
  return {n.binary("mul", gate(3, "sigmoid"), n.emit("tanh", {c})), c};
}
/// Gates r, z, n; the reset gate stands behind the product with the state.
RecurrentState gru_step(TorchNode& n, int projected, const RecurrentState& s, const RecurrentWeights& w) {
  const int64_t hidden = n.shape(s.h)[1];
  const int recurrent = affine(n, s.h, w.state, w.state_bias);
  const auto gate = [&](int64_t k) { return n.emit("sigmoid", {n.binary("add", gate_of(n, projected, k, hidden), gate_of(n, recurrent, k, hidden))}); };
  const int reset = gate(0), update = gate(1);
  const int candidate = n.emit("tanh", {n.binary("add", gate_of(n, projected, 2, hidden), n.binary("mul", reset, gate_of(n, recurrent, 2, hidden)))});
  return {n.binary("add", candidate, n.binary("mul", update, n.binary("sub", s.h, candidate)))};
}

/// One direction of one layer over x [steps, batch, in]: every step's state [steps, batch, hidden], and the last one.
std::pair<int, RecurrentState> scanned(TorchNode& n, int x, RecurrentState s, const RecurrentWeights& w, RecurrentCell cell, bool backwards) {
  const Dims shape = n.shape(x);
  const int64_t steps = shape[0], batch = shape[1], hidden = n.shape(s.h)[1];
  const int projected = affine(n, n.reshape(x, {steps * batch, shape[2]}), w.input, w.input_bias);
  std::vector<int> states(static_cast<size_t>(steps));
  for (int64_t k = 0; k < steps; ++k) {
    const int64_t t = backwards ? steps - 1 - k : k;
    s = cell(n, n.slice(projected, 0, t * batch, batch), s, w);
    states[static_cast<size_t>(t)] = n.reshape(s.h, {1, batch, hidden});
  }
  return {n.concat(states, 0), s};
}

TorchResults recurrent(TorchNode& n, RecurrentCell cell, int64_t gates, bool has_c) {
  if (n.has("batch_sizes")) n.unsupported("packed sequences: pass a padded tensor");
  const std::vector<int> initial = n.tensors("hx"), params = n.tensors("params");
  const int64_t layers = n.integer("num_layers", 1);
  const size_t directions = n.boolean("bidirectional", false) ? 2 : 1, each = n.boolean("has_biases", true) ? 4 : 2, pairs = static_cast<size_t>(layers) * directions;
  if (layers < 1 || params.size() != pairs * each) {
    if (params.size() == pairs * (each + 1)) n.unsupported("projections of the state (proj_size)");
    n.invalid(fmt::format("{} layers of {} directions with {} parameters", layers, directions, params.size()));
  }
  int x = n.tensor("input");
  const bool alone = n.rank(x) == 2, batch_first = n.boolean("batch_first", false) && !alone;  // a sequence alone has no batch
  if (alone) x = n.reshape(x, {n.shape(x)[0], 1, n.shape(x)[1]});
  if (n.rank(x) != 3 || initial.size() != (has_c ? 2U : 1U)) n.invalid(fmt::format("data of shape {} with {} states", shape_text(n.shape(x)), initial.size()));
  if (batch_first) x = n.transpose(x, {1, 0, 2});
  const int64_t batch = n.shape(x)[1];
  if (n.shape(x)[0] < 1 || n.shape(x)[0] > torch_limits::kUnrolled)
    n.unsupported(fmt::format("sequences of {} steps (1 to {} are unrolled)", n.shape(x)[0], torch_limits::kUnrolled));
  std::vector<int> last_h, last_c;
  for (int64_t layer = 0; layer < layers; ++layer) {
    std::vector<int> sides;
    for (size_t d = 0; d < directions; ++d) {
      const size_t k = static_cast<size_t>(layer) * directions + d, at = k * each;
      RecurrentWeights w{params[at], params[at + 1]};
      if (each == 4) w.input_bias = params[at + 2], w.state_bias = params[at + 3];
      const int64_t hidden = n.rank(w.state) == 2 ? n.shape(w.state)[1] : 0;
      if (n.rank(w.input) != 2 || n.shape(w.input) != Dims{gates * hidden, n.shape(x)[2]} || n.shape(w.state) != Dims{gates * hidden, hidden})
        n.invalid(fmt::format("weights {} and {} for data {}", shape_text(n.shape(w.input)), shape_text(n.shape(w.state)), shape_text(n.shape(x))));
      const auto start = [&](int v) { return n.reshape(n.slice(n.reshape(v, {static_cast<int64_t>(pairs), batch, hidden}), 0, static_cast<int64_t>(k), 1), {batch, hidden}); };
      const auto [states, last] = scanned(n, x, {start(initial[0]), has_c ? start(initial[1]) : -1}, w, cell, d == 1);
      sides.push_back(states);
      last_h.push_back(n.reshape(last.h, {1, batch, hidden}));
      if (has_c) last_c.push_back(n.reshape(last.c, {1, batch, hidden}));
    }
    x = n.concat(sides, 2);
  }
  const auto plain = [&](int v) { return alone ? n.reshape(v, {n.shape(v)[0], n.shape(v)[2]}) : v; };
  TorchResults out{{.value = plain(batch_first ? n.transpose(x, {1, 0, 2}) : x)}, {.value = plain(n.concat(last_h, 0))}};
  if (has_c) out.push_back({.value = plain(n.concat(last_c, 0))});
  return out;
}

TorchResults lstm(TorchNode& n) { return recurrent(n, lstm_step, 4, true); }
TorchResults gru(TorchNode& n) { return recurrent(n, gru_step, 3, false); }
TorchResults rnn_tanh(TorchNode& n) { return recurrent(n, simple_cell<false>, 1, false); }
TorchResults rnn_relu(TorchNode& n) { return recurrent(n, simple_cell<true>, 1, false); }

/// One step of a cell, with its state as an operand.
TorchResults one_step(TorchNode& n, RecurrentCell cell, bool has_c) {
  const RecurrentWeights w{n.tensor("w_ih"), n.tensor("w_hh"), n.optional("b_ih"), n.optional("b_hh")};
  const std::vector<int> state = n.tensors("hx");
  if (state.size() != (has_c ? 2U : 1U)) n.invalid(fmt::format("{} states", state.size()));
  const RecurrentState s = cell(n, affine(n, n.tensor("input"), w.input, w.input_bias), {state[0], has_c ? state[1] : -1}, w);
  TorchResults out{{.value = s.h}};
  if (has_c) out.push_back({.value = s.c});
  return out;
}
TorchResults lstm_cell_step(TorchNode& n) { return one_step(n, lstm_step, true); }
TorchResults gru_cell_step(TorchNode& n) { return one_step(n, gru_step, false); }
TorchResults tanh_cell_step(TorchNode& n) { return one_step(n, simple_cell<false>, false); }
TorchResults relu_cell_step(TorchNode& n) { return one_step(n, simple_cell<true>, false); }

constexpr AtenOp kAtenRecurrent[] = {
    {"aten.gru", gru},           {"aten.gru_cell", gru_cell_step},       {"aten.lstm", lstm},         {"aten.lstm_cell", lstm_cell_step},
    {"aten.rnn_relu", rnn_relu}, {"aten.rnn_relu_cell", relu_cell_step}, {"aten.rnn_tanh", rnn_tanh}, {"aten.rnn_tanh_cell", tanh_cell_step},
};

}  // namespace

std::span<const AtenOp> aten_recurrent() { return kAtenRecurrent; }

}  // namespace tw::frontends
