// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>

#include "engine/base/json.h"
#include "engine/schedule/schedule.h"
#include "engine/space/config_space.h"
#include "engine/target/target.h"
#include "engine/te/window.h"

/// What the CPU templates share: finding the reduction in a fused dag, channel blocks, and the register rule.
namespace tw::space::cpu {

/// A reduction over two operands, perhaps the first one padded, and elementwise work after it.
struct Anchor {
  int reduce = -1;  ///< op that does the work
  int pad = -1;     ///< op tagged "pad" that it reads, or -1
  int data = -1;    ///< placeholder behind the first operand
  int weight = -1;  ///< placeholder of the second operand; where it is constant it can be packed ahead of time
  int output = -1;  ///< the dag's one output
  int turned = -1;  ///< op that moves the second operand's data before it is read, or -1
};

/// Finds the one reduction tagged `tag`, of this type, in a dag whose other computed ops are that reduction's padding or elementwise work of its shape after
/// it. The second operand must be a placeholder of role `weight`. What comes after may read the first one too if it has the result's shape, as gates of
/// recurrent cells and residuals around one layer do.
/// `turned`: the second operand is read through an op that moves its data.
std::optional<Anchor> find_anchor(const te::Dag& dag, std::string_view tag, te::Role weight = te::Role::constant, DType type = kFloat32, bool turned = false);

/// The same of a convolution of float32. Its weights may be computed by the network, as those that are chosen by the image or are one themselves, if each meets
/// enough places to be worth laying out anew each time.
std::optional<Anchor> find_conv_anchor(const te::Dag& dag, std::string_view tag);

/// Lanes of a vector along `extent` elements without a remainder: the largest power of two up to a full vector that divides them.
int64_t dividing_lanes(int64_t extent, const Target& target, DType type = kFloat32);
/// Lanes of vectors along the columns of a product: those that divide the columns, or full ones with a tail where these compute more columns at once, which is
/// half as many again at least.
int64_t column_lanes(int64_t n, const Target& target, DType type = kFloat32);
/// Channels per block: a full vector, or the half or quarter of one that holds them all. The last block is padded: two vectors for 20 channels are fewer than
/// three halves, and products of halves need their broadcasts put together. Up to three channels, as those of images, stay apart unless they are a power of
/// two. A function of the channel count alone, so that neighbouring kernels agree on the layout between them.
int64_t channel_block(int64_t channels, const Target& target);
/// Blocks that hold so many channels, the last one perhaps in part.
inline int64_t blocks_for(int64_t channels, int64_t block) { return (channels + block - 1) / block; }
/// Tiles of so many rows in a block of about `block` rows: as many in each block, so that cores that get a block each are done together.
inline int64_t tiles_of_block(int64_t all_rows, int64_t rows, int64_t block) {
  const int64_t tiles = blocks_for(all_rows, rows);
  return blocks_for(tiles, blocks_for(tiles, blocks_for(block, rows)));
}

/// [N, C, spatial...] in blocks of channels: [N][C/x][spatial...][x]; empty (row-major) for blocks of 1.
std::vector<schedule::LayoutStep::Piece> nchwc(int64_t block, size_t spatial = 2);

/// Accumulators, one vector operand each column and one broadcast must fit the register file, or LLVM spills in the inner loop.
bool fits_registers(int64_t rows, int64_t columns, const Target& target);

constexpr int64_t kCacheLine = 64;
/// Lines of the level-1 cache that rows at this distance may take: a distance with a large divisor in common with the span of the sets leads to few of them.
int64_t lines_for_rows(int64_t row_bytes, const Target& target);
/// What of its rate a register tile loses, about, one of whose operands comes from the level-2 cache since its rows evict each other.
constexpr double kCollisions = 0.1;

/// Share of the multiply-add rate that a register tile of `rows` broadcasts times `columns` vectors can reach, from 0 to 1: by the latency that its
/// accumulators hide and the loads that it needs. Where a broadcast is put together from `pieces` elements, each takes a load, and all but the first a
/// multiply-add's place. Ties are for the caller to break.
double tile_rate(int64_t rows, int64_t columns, const Target& target, int64_t pieces = 1);
/// Share of the work in tiles of `tile` along `extent` that counts, the last tile being whole too.
double filled(int64_t extent, int64_t tile);
/// Share of the cores' time that `tasks` equal tasks fill.
double balanced(int64_t tasks, const Target& target);

/// Share of the multiply-add rate that loops by rule reach in a convolution, whose vectors lie along lines of pixels; `outputs`: of a group.
double rate_in_lines(const te::Dag& dag, const Anchor& a, int64_t outputs, const Target& target);
/// Whether such loops over all of a convolution's outputs may serve: lines fill vectors, and there are few of them or a cache keeps them.
bool suits_lines(const te::Dag& dag, const Anchor& a, const Target& target);
/// Share of a register's lanes that vectors of so many use; where two halves are as fast as one vector, half of them are all.
double register_share(int64_t lanes, const Target& target);

/// Terms of a sum that rules write out, at most: counting and comparing takes places of multiply-adds on processors whose integers share their pipes with
/// vectors. Dense layers, products of a batch and attention gain up to 20 %, measured on a Xeon; a Zen 5 gains nothing.
constexpr int64_t kWrittenTerms = 4;
/// The same of a block of input channels, where a tap's loop over them has copies of its own.
constexpr int64_t kWrittenChannels = 2;
/// The loop over the terms of a sum, and the one over those of a turn, which are written out.
std::vector<ir::Var> write_out_terms(schedule::Builder& b, int stage, const ir::Var& terms, int64_t count);

/// Values from `candidates` that are at most `limit`, as knob candidates; at least one.
std::vector<Json> up_to(const std::vector<int64_t>& candidates, int64_t limit);
/// Divisors of n among `candidates`.
std::vector<Json> dividing(const std::vector<int64_t>& candidates, int64_t n);
/// Vectors of a panel of weights, of n in all: those that divide n. Where only narrow ones do, as of a prime number, others too whose last panel is nearly
/// whole: it is filled up with zeros.
std::vector<Json> panel_widths(const std::vector<int64_t>& candidates, int64_t n);

/// Columns of register tiles of a transposed convolution, as candidates of a split: whole strides, of which neighbouring tiles meet the same taps. Where a
/// stride does not fit, parts of one.
std::vector<std::vector<int64_t>> whole_strides(int64_t columns, int64_t stride, int64_t most, const std::function<bool(int64_t)>& fits);

/// A convolution along a line has no rows that cores could share. Its tiles are cut into pieces, which loops over panels of weights may have outside, so that
/// all panels meet a piece while the cache has it, or inside.
struct Line {
  int64_t columns, data_bytes, weight_bytes;
  /// Adds the knob.
  void define(ConfigSpace& space) const;
  /// By rule, of loops with the pieces outside or inside: the bytes that must come from beyond the level-2 cache over those that do; a little less for more
  /// pieces.
  double kept(int64_t pieces, bool outside, int64_t panels, const Target& target) const;
  /// The loop over tiles of so many columns, cut as the point says: the loop over pieces, which is none for one piece, and that over a piece's tiles.
  std::pair<std::vector<ir::Var>, ir::Var> cut(schedule::Builder& b, int stage, const ir::Var& tiles, int64_t tile, const ConfigEntity& e) const;
};

/// Where it is one that is convolved.
std::optional<Line> line_of(const te::Dag& dag, const Anchor& a);

/// Gives every activation of the output's shape the output's layout, blocks of channels. Where the last of them is padded, so is what is read by channel, that
/// whole vectors may be read of it.
void layout_epilogue(schedule::Builder& b, const te::Dag& dag, const Anchor& a, const std::vector<schedule::LayoutStep::Piece>& layout);
/// Inlines the elementwise ops between reduction and output.
void inline_epilogue(schedule::Builder& b, const Anchor& a);

/// Stage that holds the reduction's registers: the reduction itself, or a cache of it where it is the output. Updates `output` to its stage.
int accumulator_stage(schedule::Builder& b, const Anchor& a, int& output);

/// Taps of a line that are written out, at most: each has a copy of the tile.
constexpr int64_t kMostWrittenTaps = 7;
/// The window along the dimension so many from the last of a result of so many spatial ones; null if none slides along it.
const te::WindowLine* line_from(const std::vector<te::WindowLine>& window, size_t spatial, size_t from_last);
/// Whether what tiles of a line of results read beside the image is known ahead of time: only the first and the last of them meet its padding, and the taps of
/// the line can be written out. `line` may be null.
bool knows_padding(const te::WindowLine* line, int64_t columns, int64_t tile);

/// Pads as its own parallel, vectorised loop nest in the blocked layout. A block may be longer than a vector.
void schedule_padding(schedule::Builder& b, int pad, int64_t block, const Target& target);

}  // namespace tw::space::cpu
