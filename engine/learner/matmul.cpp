// SPDX-License-Identifier: Apache-2.0
#include "engine/learner/matmul.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace tw::learner {
namespace {

/// Sums that are in caches at a time.
constexpr size_t kDepth = 256;

/// A tile of sums in registers: `Rows` by `Vectors` vectors of `Bytes`. `a` holds `Rows` elements for each product, `b` a whole row of the tile.
template <int Bytes, int Rows, int Vectors>
[[gnu::always_inline]] inline void tile(size_t k, const float* a, const float* b, float* c, size_t stride, size_t rows, size_t columns, bool add) {
  typedef float Vector __attribute__((vector_size(Bytes)));
  constexpr size_t kLanes = Bytes / sizeof(float), kWidth = kLanes * Vectors;
  Vector sums[Rows][Vectors] = {};
  for (size_t p = 0; p < k; ++p, a += Rows, b += kWidth) {
    Vector right[Vectors];
    std::memcpy(right, b, sizeof right);
#pragma GCC unroll 16
    for (int r = 0; r < Rows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < Vectors; ++v) sums[r][v] += a[r] * right[v];
    }
  }
  float out[kWidth];
  for (size_t r = 0; r < rows; ++r) {
    std::memcpy(out, sums[r], sizeof out);
    float* const to = c + r * stride;
    for (size_t j = 0; j < columns; ++j) to[j] = add ? to[j] + out[j] : out[j];
  }
}

using Tile = void (*)(size_t k, const float* a, const float* b, float* c, size_t stride, size_t rows, size_t columns, bool add);

#define TW_TILE(name, target, bytes, rows, vectors)                                                                                       \
  target void name(size_t k, const float* a, const float* b, float* c, size_t stride, size_t part, size_t columns, bool add) {          \
    tile<bytes, rows, vectors>(k, a, b, c, stride, part, columns, add);                                                                  \
  }
#if defined(__x86_64__)
TW_TILE(tile_avx512, __attribute__((target("avx512f,fma"))), 64, 8, 2)
TW_TILE(tile_avx2, __attribute__((target("avx2,fma"))), 32, 6, 2)
#endif
TW_TILE(tile_plain, , 16, 4, 2)
#undef TW_TILE

struct Kernel {
  Tile tile;
  size_t rows, width;  ///< of a tile
};

const Kernel& kernel() {
  static const Kernel kKernel = [] {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return Kernel{tile_avx512, 8, 32};
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Kernel{tile_avx2, 6, 16};
#endif
    return Kernel{tile_plain, 4, 8};
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

/// Those products of c; `left` has room for the elements of a tile.
void multiply_right(const Kernel& kernel, size_t m, size_t n, size_t begin, size_t depth, MatrixView a, const float* right, float* left, float* c, size_t stride, bool add) {
  const size_t row = a.transposed ? 1 : a.stride, step = a.transposed ? a.stride : 1, panels = panels_of(n, kernel);
  for (size_t i = 0; i < m; i += kernel.rows) {
    const size_t rows = std::min(kernel.rows, m - i);
    pack(a.data + i * row + begin * step, row, step, rows, depth, kernel.rows, left);
    for (size_t panel = 0; panel < panels; ++panel) {
      const size_t j = panel * kernel.width;
      kernel.tile(depth, left, right + j * depth, c + i * stride + j, stride, rows, std::min(kernel.width, n - j), add || begin > 0);
    }
  }
}

void clear(size_t m, size_t n, float* c, size_t stride) {
  for (size_t i = 0; i < m; ++i) std::fill_n(c + i * stride, n, 0.0F);
}

}  // namespace

void matmul(size_t m, size_t n, size_t k, MatrixView a, MatrixView b, float* c, size_t stride, bool add) {
  const Kernel& kernel = learner::kernel();
  if (k == 0 && !add) clear(m, n, c, stride);
  std::vector<float> right(panels_of(n, kernel) * kernel.width * std::min(k, kDepth)), left(kernel.rows * std::min(k, kDepth));
  for (size_t begin = 0; begin < k; begin += kDepth) {
    const size_t depth = std::min(kDepth, k - begin);
    pack_right(kernel, b, begin, depth, n, right.data());
    multiply_right(kernel, m, n, begin, depth, a, right.data(), left.data(), c, stride, add);
  }
}

PackedMatrix::PackedMatrix(size_t k, size_t n, MatrixView b) : k_(k), n_(n), panels_(panels_of(n, kernel()) * kernel().width * k) {
  const size_t width = panels_of(n, kernel()) * kernel().width;
  for (size_t begin = 0; begin < k; begin += kDepth) pack_right(kernel(), b, begin, std::min(kDepth, k - begin), n, panels_.data() + width * begin);
}

void PackedMatrix::multiply(size_t m, MatrixView a, float* c, size_t stride) const {
  const Kernel& kernel = learner::kernel();
  if (k_ == 0) clear(m, n_, c, stride);
  std::vector<float> left(kernel.rows * std::min(k_, kDepth));
  const size_t width = panels_of(n_, kernel) * kernel.width;
  for (size_t begin = 0; begin < k_; begin += kDepth)
    multiply_right(kernel, m, n_, begin, std::min(kDepth, k_ - begin), a, panels_.data() + width * begin, left.data(), c, stride, false);
}

}  // namespace tw::learner
