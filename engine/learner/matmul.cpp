// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/matmul.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tw::learner {
namespace {

/// Sums that are in caches at a time.
constexpr size_t kDepth = 256;
constexpr size_t kMostRows = 8;  ///< of a tile

/// What a tile does once its sums are there.
struct Ending {
  bool add;           ///< to what stands in c
  const float* bias;  ///< by column; null: none
  float least;
};

/// What a tile takes of the left matrix: the element of row i and product p is at data[i * row + p * step].
struct Left {
  const float* data;
  size_t row, step, rows;
};

/// A tile of sums in registers: `Rows` by `Vectors` vectors of `Bytes`; of rows that the left matrix lacks, its last stands in. `at` has the `k` products to take. All loops over sums have numbers
/// that are known, or compilers keep the sums in memory.
template <int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(size_t k, const uint32_t* at, const Left& left, const float* b, float* c, size_t stride, size_t columns, const Ending& ending) {
  typedef float Vector __attribute__((vector_size(Bytes)));
  constexpr size_t kLanes = Bytes / sizeof(float), kWidth = kLanes * Vectors;
  const float* from[Rows];
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) from[r] = left.data + std::min(static_cast<size_t>(r), left.rows - 1) * left.row;
  const size_t step = left.step;
  Vector sums[Rows][Vectors] = {};
  for (size_t i = 0; i < k; ++i) {
    const size_t p = at[i];
    Vector right[Vectors];
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) std::memcpy(&right[v], b + p * kWidth + static_cast<size_t>(v) * kLanes, sizeof right[v]);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) sums[r][v] += from[r][p * step] * right[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < Rows; ++r) {
    if (static_cast<size_t>(r) >= left.rows) break;
    float* const to = c + static_cast<size_t>(r) * stride;
    float part[2 * kWidth] = {};  // of c and of what is added, where a tile's last columns are none
    if (columns < kWidth) {
      if (ending.add) std::copy_n(to, columns, part);
      if (ending.bias != nullptr) std::copy_n(ending.bias, columns, part + kWidth);
    }
    float* const out = columns < kWidth ? part : to;
    const float* const bias = columns < kWidth ? part + kWidth : ending.bias;
#pragma GCC unroll 16
    for (int v = 0; v < Vectors; ++v) {
      Vector sum = sums[r][v], more;
      if (ending.add) {
        std::memcpy(&more, out + static_cast<size_t>(v) * kLanes, sizeof more);
        sum += more;
      }
      if (ending.bias != nullptr) {
        std::memcpy(&more, bias + static_cast<size_t>(v) * kLanes, sizeof more);
        sum += more;
      }
      sum = sum < ending.least ? Vector{} + ending.least : sum;
      std::memcpy(out + static_cast<size_t>(v) * kLanes, &sum, sizeof sum);
    }
    if (columns < kWidth) std::copy_n(part, columns, to);
  }
}

/// The products of a tile's rows that are not with zeros alone, as many are after layers that cut what is negative. How many there are.
[[gnu::always_inline]] inline size_t not_zero(const Left& left, size_t depth, uint32_t* at) {
  uint32_t bits[kDepth] = {};
  const auto seen = [](float x) { return std::bit_cast<uint32_t>(x) << 1; };  // without the sign
  if (left.step == 1) {
    for (size_t i = 0; i < left.rows; ++i)
      for (size_t p = 0; p < depth; ++p) bits[p] |= seen(left.data[i * left.row + p]);
  } else {
    for (size_t p = 0; p < depth; ++p)
      for (size_t i = 0; i < left.rows; ++i) bits[p] |= seen(left.data[i * left.row + p * left.step]);
  }
  size_t found = 0;
  for (size_t p = 0; p < depth; ++p) {
    at[found] = static_cast<uint32_t>(p);
    found += bits[p] != 0;
  }
  return found;
}

using Tile = void (*)(size_t k, const uint32_t* at, const Left& left, const float* b, float* c, size_t stride, size_t columns, const Ending& ending);
using NotZero = size_t (*)(const Left& left, size_t depth, uint32_t* at);

#define TW_TILE(name, target, bytes, rows, vectors)                                                                                                      \
  target void name(size_t k, const uint32_t* at, const Left& left, const float* b, float* c, size_t stride, size_t columns, const Ending& ending) {     \
    tile<bytes, rows, vectors>(k, at, left, b, c, stride, columns, ending);                                                                              \
  }                                                                                                                                                      \
  target size_t name##_not_zero(const Left& left, size_t depth, uint32_t* at) { return not_zero(left, depth, at); }
#if defined(__x86_64__)
TW_TILE(tile_avx512, __attribute__((target("avx512f,fma"))), 64, 8, 2)
TW_TILE(tile_avx2, __attribute__((target("avx2,fma"))), 32, 6, 2)
#endif
TW_TILE(tile_plain, , 16, 4, 2)
#undef TW_TILE

struct Kernel {
  Tile tile;
  NotZero not_zero;
  size_t rows, width;  ///< of a tile
};

const Kernel& kernel() {
  static const Kernel kKernel = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Kernel{tile_avx512, tile_avx512_not_zero, 8, 32};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Kernel{tile_avx2, tile_avx2_not_zero, 6, 16};
#endif
    return Kernel{tile_plain, tile_plain_not_zero, 4, 8};
  }();
  return kKernel;
}

/// `across` x `k` elements as tiles take them: for each product the elements of one tile side by side, zeros beyond the last. `element(i, p)` is the i-th of
/// product p at data[i * across_stride + p * depth_stride].
void pack(const float* data, size_t across_stride, size_t depth_stride, size_t across, size_t k, size_t width, float* out) {
  for (size_t begin = 0; begin < across; begin += width) {
    const size_t some = std::min(width, across - begin);
    const float* from = data + begin * across_stride;
    for (size_t p = 0; p < k; ++p, from += depth_stride, out += width) {
      if (across_stride == 1) {
        std::memcpy(out, from, some * sizeof(float));
      } else {
        for (size_t i = 0; i < some; ++i) out[i] = from[i * across_stride];
      }
      std::fill(out + some, out + width, 0.0F);
    }
  }
}

size_t panels_of(size_t n, const Kernel& kernel) { return (n + kernel.width - 1) / kernel.width; }

/// Elements of some of a matrix's products, as panels of tiles.
void pack_right(const Kernel& kernel, MatrixView b, size_t begin, size_t depth, size_t n, float* out) {
  const size_t step = b.transposed ? 1 : b.stride, column = b.transposed ? b.stride : 1;
  pack(b.data + begin * step, column, step, n, depth, kernel.width, out);
}

/// Those products of c.
void multiply_right(const Kernel& kernel, size_t m, size_t n, size_t begin, size_t depth, MatrixView a, const float* right, float* c, size_t stride, const Ending& ending) {
  const size_t row = a.transposed ? 1 : a.stride, step = a.transposed ? a.stride : 1, panels = panels_of(n, kernel);
  uint32_t at[kDepth];
  float columns[kDepth * kMostRows];
  for (size_t i = 0; i < m; i += kernel.rows) {
    Left left{a.data + i * row + begin * step, row, step, std::min(kernel.rows, m - i)};
    if (a.transposed) {  // as neighbours: rows of a matrix are apart by what falls into few sets of a cache, and every panel reads them again
      for (size_t p = 0; p < depth; ++p) std::copy_n(left.data + p * step, left.rows, columns + p * left.rows);
      left.data = columns;
      left.step = left.rows;
    }
    const size_t found = kernel.not_zero(left, depth, at);
    for (size_t panel = 0; panel < panels; ++panel) {
      const size_t j = panel * kernel.width;
      kernel.tile(found, at, left, right + j * depth, c + i * stride + j, stride, std::min(kernel.width, n - j),
                  {ending.add, ending.bias == nullptr ? nullptr : ending.bias + j, ending.least});
    }
  }
}

constexpr float kAny = -std::numeric_limits<float>::infinity();

/// All parts of a product, one after the other; `right_of` says where the panels of one lie.
template <class RightOf>
void multiply_parts(const Kernel& kernel, size_t m, size_t n, size_t k, MatrixView a, const RightOf& right_of, float* c, size_t stride, bool add,
                    const Finish& finish) {
  for (size_t begin = 0; begin == 0 || begin < k; begin += kDepth) {
    const size_t depth = std::min(kDepth, k - begin);
    const bool last = begin + depth == k;
    multiply_right(kernel, m, n, begin, depth, a, right_of(begin, depth), c, stride,
                   {add || begin > 0, last ? finish.bias : nullptr, last ? finish.least : kAny});
  }
}

}  // namespace

void matmul(size_t m, size_t n, size_t k, MatrixView a, MatrixView b, float* c, size_t stride, bool add) {
  const Kernel& kernel = learner::kernel();
  std::vector<float> right(panels_of(n, kernel) * kernel.width * std::min(k, kDepth));
  const auto right_of = [&](size_t begin, size_t depth) {
    pack_right(kernel, b, begin, depth, n, right.data());
    return right.data();
  };
  multiply_parts(kernel, m, n, k, a, right_of, c, stride, add, {});
}

PackedMatrix::PackedMatrix(size_t k, size_t n, MatrixView b) : k_(k), n_(n), panels_(panels_of(n, kernel()) * kernel().width * k) {
  const size_t width = panels_of(n, kernel()) * kernel().width;
  for (size_t begin = 0; begin < k; begin += kDepth) pack_right(kernel(), b, begin, std::min(kDepth, k - begin), n, panels_.data() + width * begin);
}

void PackedMatrix::multiply(size_t m, MatrixView a, float* c, size_t stride, const Finish& finish) const {
  const Kernel& kernel = learner::kernel();
  const size_t width = panels_of(n_, kernel) * kernel.width;
  multiply_parts(
      kernel, m, n_, k_, a, [&](size_t begin, size_t) { return panels_.data() + width * begin; }, c, stride, false, finish);
}

}  // namespace tw::learner
