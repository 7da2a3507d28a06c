// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/passes/constants.h"

#include <algorithm>
#include <set>

#include "engine/graph/evaluate.h"

namespace tw::graph {

bool is_commutative(const std::string& op) {
  static const std::set<std::string> kOps = {"add", "mul", "max", "min", "equal", "not_equal", "and", "or", "xor", "bitwise_and", "bitwise_or", "bitwise_xor"};
  return kOps.contains(op);
}

std::optional<double> uniform(const HostArray& a) {
  const int64_t n = a.num_elements();
  if (n == 0) return {};
  const double first = a.get(0);
  for (int64_t i = 1; i < n; ++i)
    if (a.get(i) != first) return {};
  return first;
}

HostArray full(DType t, double v) {
  HostArray a = HostArray::make(t, {});
  a.set(0, v);
  return a;
}

Expected<HostArray> fold(const std::string& op, const std::vector<HostArray>& operands, Attrs attrs) {
  GraphBuilder b("fold");
  std::vector<int> inputs;
  std::vector<std::shared_ptr<const HostArray>> arrays;
  for (const HostArray& a : operands) {
    arrays.push_back(std::make_shared<const HostArray>(a));
    inputs.push_back(b.constant("c", arrays.back()));
  }
  TW_TRY(const std::vector<int> out, b.node(op, inputs, std::move(attrs)));
  (void)out;
  const Graph g = std::move(b).finish();
  TW_TRY(std::vector<HostArray> results, evaluate_node(g, g.nodes[0], arrays));
  return std::move(results[0]);
}

namespace {

/// Copies `rows` x `columns` elements, `columns` apart in `to` along rows and `from_stride` elements apart in `from` along columns, in tiles that stay in
/// cache.
template <class T>
void copy_plane(T* to, const T* from, int64_t rows, int64_t columns, int64_t from_row, int64_t from_column, int64_t to_row) {
  constexpr int64_t kTile = 16;
  for (int64_t r0 = 0; r0 < rows; r0 += kTile)
    for (int64_t c0 = 0; c0 < columns; c0 += kTile)
      for (int64_t r = r0; r < std::min(rows, r0 + kTile); ++r)
        for (int64_t c = c0; c < std::min(columns, c0 + kTile); ++c) to[r * to_row + c] = from[r * from_row + c * from_column];
}

template <class T>
void transpose_elements(HostArray& out, const HostArray& a, const std::vector<int64_t>& strides) {
  const size_t rank = out.shape.size();
  const int64_t columns = out.shape[rank - 1];
  // The dimension that is innermost in the operand is walked together with the last one of the result.
  size_t other = rank;
  for (size_t d = 0; d + 1 < rank; ++d)
    if (strides[d] == 1 && out.shape[d] > 1) other = d;
  const int64_t rows = other < rank ? out.shape[other] : 1;
  int64_t to_row = columns;
  for (size_t d = other + 1; d + 1 < rank; ++d) to_row *= out.shape[d];
  auto* to = reinterpret_cast<T*>(out.data.data());
  const auto* from = reinterpret_cast<const T*>(a.data.data());
  std::vector<int64_t> i(rank, 0), out_strides(rank, 1);
  for (size_t d = rank; d-- > 1;) out_strides[d - 1] = out_strides[d] * out.shape[d];
  for (;;) {
    int64_t to_at = 0, from_at = 0;
    for (size_t d = 0; d < rank; ++d) {
      to_at += i[d] * out_strides[d];
      from_at += i[d] * strides[d];
    }
    copy_plane(to + to_at, from + from_at, rows, columns, other < rank ? strides[other] : 0, strides[rank - 1], to_row);
    size_t d = rank - 1;
    while (d > 0 && (d - 1 == other || ++i[d - 1] == out.shape[d - 1])) i[--d] = 0;
    if (d == 0) return;
  }
}

}  // namespace

std::vector<int64_t> permutation(const Attrs& attrs, size_t rank) {
  std::vector<int64_t> reversed(rank);
  for (size_t d = 0; d < rank; ++d) reversed[d] = static_cast<int64_t>(rank - 1 - d);
  std::vector<int64_t> perm = attrs.integers("perm", reversed);
  for (int64_t& p : perm) p += p < 0 ? static_cast<int64_t>(rank) : 0;
  return perm;
}

HostArray transposed(const HostArray& a, const std::vector<int64_t>& perm) {
  const size_t rank = a.shape.size();
  std::vector<int64_t> shape, strides, source(rank, 1);
  for (size_t d = rank; d-- > 1;) source[d - 1] = source[d] * a.shape[d];
  for (const int64_t p : perm) {
    shape.push_back(a.shape[static_cast<size_t>(p)]);
    strides.push_back(source[static_cast<size_t>(p)]);
  }
  HostArray out = HostArray::make(a.dtype, shape);
  if (rank == 0 || a.num_elements() == 0) {
    out.data = a.data;
    return out;
  }
  switch (a.dtype.bytes()) {
    case 1:
      transpose_elements<uint8_t>(out, a, strides);
      break;
    case 2:
      transpose_elements<uint16_t>(out, a, strides);
      break;
    case 4:
      transpose_elements<uint32_t>(out, a, strides);
      break;
    default:
      transpose_elements<uint64_t>(out, a, strides);
      break;
  }
  return out;
}

}  // namespace tw::graph
