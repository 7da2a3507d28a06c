// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "engine/space/templates/cpu/blocked.h"

/// What the templates for CUDA share: products and convolutions in tiles that the threads of a block fetch together.
namespace tw::space::cuda {

/// What a thread reads or fetches at once, at most; in elements of float32.
inline constexpr int64_t kVectorBytes = 16, kVector = 4;
/// Compute capability, times ten, from which on GPUs copy to shared memory beside other work.
inline constexpr int kCopiesAhead = 80;

/// As for CPUs, of any type that threads multiply: float32, float16 or bfloat16, the last two summed up in float32.
std::optional<cpu::Anchor> find_anchor(const te::Dag& dag, std::string_view tag, te::Role weight = te::Role::constant);

/// How one axis of the result is shared out: blocks take what these leave.
struct AxisTile {
  int64_t vthreads = 1, threads = 1, inner = 1;
  int64_t span() const { return vthreads * threads * inner; }
};
/// The last factors of a split: virtual threads, threads and elements of a thread, or the last two of them.
AxisTile axis_tile(const ConfigEntity& e, const std::string& knob);

/// Coordinates of blocks and threads.
enum Direction : uint8_t { kX, kY, kZ };

struct Tiling {
  std::vector<AxisTile> axes;           ///< of the result
  std::vector<Direction> directions;    ///< of each axis
  int64_t group_channels = 0;           ///< output channels of a group, where two of `axes` stand for the second axis of the result: groups, channels of one
  std::vector<int64_t> reduce;          ///< per axis of the reduction, the iterations for which tiles are in shared memory
  int64_t max_unroll = 0;               ///< loops around at most so many multiply-adds are unrolled
  bool unroll_part = false;             ///< of a loop around too many, as many turns as fit
  bool unroll_explicit = false;         ///< in the text that the compiler gets, not by the compiler
  bool fetch_once = false;              ///< tiles are fetched once a block, not in each iteration outside `reduce`
  bool double_buffer = false;           ///< the next tiles are fetched while these are used
  int pipeline = 0;                     ///< instead: so many tiles in turn are copied ahead
  bool terms_outside = false;           ///< matrices lie in shared memory with the terms of the sum outermost: threads of neighbouring results read neighbours
  std::array<int64_t, 2> vector{1, 1};  ///< elements that a thread fetches at once, of each operand; 0: threads read it where it lies
  std::array<bool, 2> across{};  ///< of each operand, a matrix with the terms outermost: neighbouring threads fetch neighbouring terms, which lie side by side
  bool vectors_of_results = false;         ///< the last axis's elements of a thread are computed as one vector where they are 2, 4, 8 or 16
  std::array<int64_t, 3> threads() const;  ///< in x, y and z
};

/// Elements of `type` from one row of a tile with the terms outside to the next.
int64_t padded_row(int64_t elements, DType type);

/// One kernel: every block computes a tile of the result. Its threads fetch tiles of both operands, neighbouring threads neighbouring elements; each sums up
/// its elements in registers; padding is computed on the way in, elementwise work on the way out.
/// Source: the CUDA templates of TVM v0.9.0 (Chen et al., NeurIPS 2018), whose threads copy pieces of the padded image that lie apart.
Expected<schedule::Schedule> tiled_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Tiling& tiling);

/// The same for a product in a schedule that has other stages: `acc` sums up what `out` copies from it; the operands, stages or arguments without layouts in
/// pieces, are fetched as they lie in memory.
void tile_product(schedule::Builder& b, std::string out, std::string acc, const std::vector<std::string>& operands, const Tiling& tiling);

/// Shares a stage's sums out over `parts`, which must divide the first axis of the reduction: returns the new stage whose first axis numbers the parts; `out`,
/// the stage or what is computed from it, adds them up in a kernel of its own. For few results with long sums, which would leave most of a GPU idle.
/// Source: split-K of NVIDIA's CUTLASS 3.5 (efficient GEMM, "parallel split-K").
std::string share_sum(schedule::Builder& b, int sum, const std::string& out, int64_t parts);

/// Points whose blocks no processor of the target's kind takes are invalid.
void add_limits(ConfigSpace& space, const Target& target, std::function<Tiling(const ConfigEntity&)> tiling,
                std::function<int64_t(const ConfigEntity&)> shared_bytes);

/// `auto_unroll_max_step` and `unroll_explicit`, and what a point says of them.
void define_unroll(ConfigSpace& space, std::vector<Json> steps);
void set_unroll(Tiling& t, const ConfigEntity& e);

/// A point by limits on the factors of its splits (as fallback_split takes them) and values of its other knobs; the limits of the first split are halved until
/// the point is valid.
ConfigEntity limited_point(const ConfigSpace& space, const std::vector<std::pair<std::string, std::vector<int64_t>>>& limits,
                           const std::vector<std::pair<std::string, Json>>& others);

/// Of points by limits, largest tiles first, the first whose blocks keep all multiprocessors busy, or the last valid one.
struct TileLimits {
  std::vector<int64_t> rows, columns, terms;  ///< as fallback_split takes them
};
ConfigEntity busy_point(const Target& target, const std::vector<TileLimits>& limits, const std::function<ConfigEntity(const TileLimits&)>& point,
                        const std::function<int64_t(const ConfigEntity&)>& blocks);

}  // namespace tw::space::cuda
