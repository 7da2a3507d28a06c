// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/onnx/onnx_ops.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

Results gather(OnnxNode& n) { return {n.emit("gather", {n.in(0), n.in(1)}, attrs({{"axis", n.axis(n.integer("axis", 0), n.rank(n.in(0)))}}))}; }
Results gather_elements(OnnxNode& n) {
  return {n.emit("gather_elements", {n.in(0), n.in(1)}, attrs({{"axis", n.axis(n.integer("axis", 0), n.rank(n.in(0)))}}))};
}
Results gather_nd(OnnxNode& n) { return {n.emit("gather_nd", {n.in(0), n.in(1)}, attrs({{"batch_dims", n.integer("batch_dims", 0)}}))}; }

std::string reduction_of(const OnnxNode& n) {
  const std::string r = n.text("reduction", "none");
  if (r != "none" && r != "add" && r != "mul" && r != "max" && r != "min")
    n.invalid(fmt::format("expected reduction 'none', 'add', 'mul', 'max' or 'min', found '{}'", printable(r.substr(0, 64))));
  return r;
}
/// Nothing is put anywhere.
bool has_no_updates(const OnnxNode& n) { return n.type(n.in(2)).num_elements() == 0; }

Results scatter_elements(OnnxNode& n) {
  if (has_no_updates(n)) return {n.in(0)};
  return {n.emit("scatter_elements", {n.in(0), n.in(1), n.in(2)},
                 attrs({{"axis", n.axis(n.integer("axis", 0), n.rank(n.in(0)))}, {"reduction", reduction_of(n)}}))};
}
Results scatter_nd(OnnxNode& n) {
  if (has_no_updates(n)) return {n.in(0)};
  int data = n.in(0), indices = n.in(1);
  const Dims shape = n.shape(data);
  Dims places = n.shape(indices);
  // Places without coordinates are all the whole of the data: the only element of one more dimension.
  const bool whole = !places.empty() && places.back() == 0;
  if (whole) {
    places.back() = 1;
    indices = n.constant(HostArray::make(kInt64, places));
    Dims one = shape;
    one.insert(one.begin(), 1);
    data = n.reshape(data, one);
  }
  const int y = n.emit("scatter_nd", {data, indices, n.in(2)}, attrs({{"reduction", reduction_of(n)}}));
  return {whole ? n.reshape(y, shape) : y};
}

Results trilu(OnnxNode& n) {
  int64_t k = 0;
  if (n.has(1)) {
    const Dims given = n.integers_input(1, "the diagonal");
    if (given.size() != 1) n.invalid("expected one diagonal");
    k = given[0];
  }
  return {n.emit("trilu", {n.in(0)}, attrs({{"k", k}, {"upper", n.integer("upper", 1)}}))};
}

/// Values where the (wrapped) index names the position, else the off value; indices out of range give no hit.
Results one_hot(OnnxNode& n) {
  const double depth = n.number_input(1, "the depth");
  if (!(depth >= 1 && depth <= 1 << 28)) n.invalid(fmt::format("expected a depth from 1 to 2^28, found {}", depth));
  int indices = n.in(0);
  if (!n.dtype(indices).is_int()) indices = n.cast(indices, kInt64);
  if (n.shape(n.in(2)) != Dims{2}) n.invalid("expected two values: off and on");
  const int64_t axis = n.axis(n.integer("axis", -1), n.rank(indices) + 1);
  return {n.emit("one_hot", {indices, n.in(2)}, attrs({{"axis", axis}, {"depth", static_cast<int64_t>(depth)}}))};
}

Results reverse_sequence(OnnxNode& n) {
  return {n.emit("reverse_sequence", {n.in(0), n.in(1)}, attrs({{"batch_axis", n.integer("batch_axis", 1)}, {"time_axis", n.integer("time_axis", 0)}}))};
}

constexpr OnnxOp kIndexingOps[] = {
    {"Gather", gather, Narrow::moved},
    {"GatherElements", gather_elements, Narrow::moved},
    {"GatherND", gather_nd, Narrow::moved},
    {"OneHot", one_hot},
    {"ReverseSequence", reverse_sequence},
    {"Scatter", scatter_elements},
    {"ScatterElements", scatter_elements},
    {"ScatterND", scatter_nd},
    {"Trilu", trilu},
};

}  // namespace

std::span<const OnnxOp> onnx_ops_indexing() { return kIndexingOps; }

}  // namespace tw::frontends
