// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/derived_constants.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "engine/base/hash.h"
#include "engine/base/text.h"

namespace tw::graph {

namespace {

constexpr size_t kMadeAtOnce = size_t{1} << 20;  ///< bytes of what is not worth waiting with

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
void transpose_elements(std::vector<std::byte>& out, const std::vector<int64_t>& shape, const HostArray& a, const std::vector<int64_t>& strides) {
  const size_t rank = shape.size();
  const int64_t columns = shape[rank - 1];
  // The dimension that is innermost in the operand is walked together with the last one of the result.
  size_t other = rank;
  for (size_t d = 0; d + 1 < rank; ++d)
    if (strides[d] == 1 && shape[d] > 1) other = d;
  const int64_t rows = other < rank ? shape[other] : 1;
  int64_t to_row = columns;
  for (size_t d = other + 1; d + 1 < rank; ++d) to_row *= shape[d];
  auto* to = reinterpret_cast<T*>(out.data());
  const auto* from = reinterpret_cast<const T*>(a.data.data());
  std::vector<int64_t> i(rank, 0), out_strides(rank, 1);
  for (size_t d = rank; d-- > 1;) out_strides[d - 1] = out_strides[d] * shape[d];
  for (;;) {
    int64_t to_at = 0, from_at = 0;
    for (size_t d = 0; d < rank; ++d) {
      to_at += i[d] * out_strides[d];
      from_at += i[d] * strides[d];
    }
    copy_plane(to + to_at, from + from_at, rows, columns, other < rank ? strides[other] : 0, strides[rank - 1], to_row);
    size_t d = rank - 1;
    while (d > 0 && (d - 1 == other || ++i[d - 1] == shape[d - 1])) i[--d] = 0;
    if (d == 0) return;
  }
}

std::vector<int64_t> transposed_shape(const HostArray& a, const std::vector<int64_t>& perm) {
  std::vector<int64_t> shape;
  for (const int64_t p : perm) shape.push_back(a.shape[static_cast<size_t>(p)]);
  return shape;
}

std::vector<std::byte> transposed_bytes(const HostArray& a, const std::vector<int64_t>& perm) {
  const size_t rank = a.shape.size();
  std::vector<int64_t> strides, source(rank, 1);
  for (size_t d = rank; d-- > 1;) source[d - 1] = source[d] * a.shape[d];
  for (const int64_t p : perm) strides.push_back(source[static_cast<size_t>(p)]);
  if (rank == 0 || a.num_elements() == 0) return {a.data.begin(), a.data.end()};
  std::vector<std::byte> out(a.data.size());
  const std::vector<int64_t> shape = transposed_shape(a, perm);
  switch (a.dtype.bytes()) {
    case 1:
      transpose_elements<uint8_t>(out, shape, a, strides);
      break;
    case 2:
      transpose_elements<uint16_t>(out, shape, a, strides);
      break;
    case 4:
      transpose_elements<uint32_t>(out, shape, a, strides);
      break;
    default:
      transpose_elements<uint64_t>(out, shape, a, strides);
      break;
  }
  return out;
}

std::vector<int64_t> joined_shape(const std::vector<HostArray>& parts, size_t dim) {
  std::vector<int64_t> shape = parts[0].shape;
  shape[dim] = 0;
  for (const HostArray& p : parts) shape[dim] += p.shape[dim];
  return shape;
}

std::vector<std::byte> joined_bytes(const std::vector<HostArray>& parts, size_t dim) {
  const std::vector<int64_t>& shape = parts[0].shape;
  int64_t outer = 1, inner = parts[0].dtype.bytes();
  for (size_t d = 0; d < dim; ++d) outer *= shape[d];
  for (size_t d = dim + 1; d < shape.size(); ++d) inner *= shape[d];
  std::vector<std::byte> out;
  for (int64_t o = 0; o < outer; ++o)
    for (const HostArray& p : parts) {
      const int64_t bytes = p.shape[dim] * inner;
      out.insert(out.end(), p.data.begin() + o * bytes, p.data.begin() + (o + 1) * bytes);
    }
  return out;
}

std::vector<std::byte> bytes_of(const Derivation& d) {
  return d.kind == Derivation::Kind::transposed ? transposed_bytes(d.of[0], d.numbers) : joined_bytes(d.of, static_cast<size_t>(d.numbers[0]));
}

/// At once if it is small.
HostArray constant_from(DType dtype, std::vector<int64_t> shape, Derivation d) {
  HostArray out{dtype, std::move(shape), {}};
  const auto size = static_cast<size_t>(out.num_elements() * dtype.bytes());
  if (size < kMadeAtOnce) {
    out.data = bytes_of(d);
    return out;
  }
  ContentHasher hasher;
  hasher.add(fmt::format("{} {} of", d.kind == Derivation::Kind::transposed ? "transposed" : "joined", shape_text(d.numbers)));
  for (const HostArray& a : d.of) hasher.add(fmt::format(" {} {} {}", a.dtype.name(), shape_text(a.shape), a.data.digest()));
  const auto recipe = std::make_shared<const Derivation>(std::move(d));
  out.data = ArrayBytes::late(size, [recipe] { return bytes_of(*recipe); }, hasher.key(), recipe);
  return out;
}

}  // namespace

HostArray transposed(const HostArray& a, const std::vector<int64_t>& perm) {
  std::vector<int64_t> shape = transposed_shape(a, perm);
  const Derivation* before = derivation_of(a);
  if (before && before->kind == Derivation::Kind::transposed && transposed_shape(before->of[0], before->numbers) == a.shape) {  // turned, and turned again
    std::vector<int64_t> both;
    for (const int64_t p : perm) both.push_back(before->numbers[static_cast<size_t>(p)]);
    if (std::is_sorted(both.begin(), both.end())) return before->of[0];
    return constant_from(a.dtype, std::move(shape), {Derivation::Kind::transposed, before->of, std::move(both)});
  }
  return constant_from(a.dtype, std::move(shape), {Derivation::Kind::transposed, {a}, perm});
}

HostArray joined(const std::vector<HostArray>& parts, int64_t dim) {
  return constant_from(parts[0].dtype, joined_shape(parts, static_cast<size_t>(dim)), {Derivation::Kind::joined, parts, {dim}});
}

const Derivation* derivation_of(const HostArray& a) {
  const auto* recipe = std::any_cast<std::shared_ptr<const Derivation>>(&a.data.recipe());
  return recipe ? recipe->get() : nullptr;
}

std::optional<HostArray> derived(const Derivation& d) {
  if (d.of.empty()) return std::nullopt;
  const HostArray& first = d.of[0];
  const size_t rank = first.shape.size();
  if (d.kind == Derivation::Kind::transposed) {
    std::vector<int64_t> sorted = d.numbers;
    std::sort(sorted.begin(), sorted.end());
    for (size_t k = 0; k < sorted.size(); ++k)
      if (sorted[k] != static_cast<int64_t>(k)) return std::nullopt;
    if (d.of.size() != 1 || sorted.size() != rank) return std::nullopt;
    return transposed(first, d.numbers);
  }
  if (d.numbers.size() != 1 || d.numbers[0] < 0 || d.numbers[0] >= static_cast<int64_t>(rank)) return std::nullopt;
  const auto dim = static_cast<size_t>(d.numbers[0]);
  for (const HostArray& a : d.of) {
    std::vector<int64_t> shape = a.shape;
    if (a.dtype != first.dtype || shape.size() != rank) return std::nullopt;
    shape[dim] = first.shape[dim];
    if (shape != first.shape) return std::nullopt;
  }
  return joined(d.of, d.numbers[0]);
}

}  // namespace tw::graph
