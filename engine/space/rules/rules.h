// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "engine/schedule/schedule.h"
#include "engine/target/target.h"

/// Schedules by rule: what operators without a template run with.
namespace tw::space::rules {

/// Below this many element operations a parallel region costs more than it saves (about 2 us of work per thread).
inline constexpr int64_t kParallelWork = 1 << 15;

/// Strides up to this are read as whole vectors with elements left out.
inline constexpr int64_t kShortStride = 4;

/// What the rules leave to choose. As they are here, untuned kernels run with them; the template of reductions searches others.
struct Choices {
  int64_t accumulators = 4;  ///< vectors that a reduction adds up side by side: enough to hide the latency of an addition or a multiply-add
  int64_t window = 9;        ///< elements of a sliding window that is written out, at most
  int64_t unroll = 1;        ///< vectors of a stage without a reduction that are written out within a row
  int64_t pieces = 8;        ///< of parallel work for each core, enough to even out cores that start late
};

/// Axis and length of the contiguous run in memory: the innermost piece of a layout, or the last dimension that has more than one element.
struct Contiguous {
  int axis = -1;
  int64_t length = 1;
};
Contiguous contiguous(const schedule::Stage& st);

/// Vector length for a run of `length` elements: a full register if that divides it, of up to four registers one that does and fills at least half of one
/// (powers of two first, they are one load), else the whole run if it is shorter than a register, else full registers with a masked tail.
int64_t vector_length(int64_t length, int64_t lanes);

/// Largest divisor of n that is at most `limit`.
int64_t divisor_up_to(int64_t n, int64_t limit);

/// Lets a stage that is no argument compute whole blocks along an axis, which is neither split nor fused yet: surplus elements that nobody reads.
void whole_blocks(schedule::Builder& b, int stage, int axis, int64_t block);

/// Makes the loops given, which lie next to each other, one parallel loop if `work` is worth it.
void parallelize(schedule::Builder& b, int stage, const std::vector<ir::Var>& outer, int64_t work);

inline int64_t pieces_for(const Target& target, const Choices& how = {}) { return how.pieces * std::max(1, target.cores); }
/// As few of the first loops as give that many pieces: the others count without divisions.
std::vector<ir::Var> first_loops(const schedule::Builder& b, int stage, std::vector<ir::Var> outer, int64_t pieces);

bool is_output(const schedule::Builder& b, int stage);

/// The register tile of a reduction whose vectors lie along a line of `columns` results, where `sharing` lines read the same vectors.
struct LineTile {
  int64_t lanes, vectors, height;  ///< of a vector; vectors of a line; lines
};
LineTile line_tile(int64_t columns, int64_t sharing, DType type, const Target& target);
/// The same where all of `lines` read the same vectors, as a convolution's outputs do in one group.
LineTile shared_tile(int64_t columns, int64_t lines, DType type, const Target& target);

/// Whether `body`, over axes of which `last` is the last, reads several elements of an array for each of its own, where tables say by their place along the
/// last axis: interpolation along rows. What the array's rows are made of is better computed once a row than at each of these places.
bool looks_up_in_rows(const ir::Expr& body, const ir::Var& last, const ir::BufferNode* array);

/// Whether neighbours of what a stage without a reduction reads lie along another axis than its own: schedule_elementwise turns blocks of them in registers.
bool reads_across(const schedule::Builder& b, int stage);

/// A stage of its own without a reduction: neighbouring elements in vectors, blocks of them on the cores. Returns the stage's index, which grows where an
/// output's elements are looked up: they are kept before they are written.
int schedule_elementwise(schedule::Builder& b, int stage, const Target& target);

/// A reduction of its own: a few vectors of neighbouring outputs at a time, summed up in registers. Returns the stage's index, which grows by the cache stage.
int schedule_reduction(schedule::Builder& b, int stage, const Target& target, const Choices& how);

/// One stage of a kernel that is computed a few rows at a time: the first `rows` loops walk over them; inside, its own axes in vectors, or its reduction along
/// the row in vectors of partial results side by side.
void schedule_row(schedule::Builder& b, int stage, size_t rows, const Target& target, const Choices& how);

/// Reductions to fewer results than there are cores: each core reduces a part, the parts are reduced after that. Returns the arrays of the parts, whose stages
/// are scheduled.
std::vector<const ir::BufferNode*> split_reductions(schedule::Builder& b, const Target& target, const Choices& how);

/// Reductions whose terms count at one place each, which the term says, as of scattered updates: the search for the place stands innermost, where the pass
/// single_turns replaces it by the place. Returns the arrays of those that are scheduled.
std::vector<const ir::BufferNode*> schedule_scatters(schedule::Builder& b, const Target& target);

/// What a kernel's result looks up at places that other stages of it work out, as samples of an image: it comes first, as a whole. Where rows of it lie beside
/// each other they are read whole, a few at a time with the stages that work out their places, and turned as they are written: the output then is scheduled
/// too. Returns the arrays of the stages that are scheduled.
std::vector<const ir::BufferNode*> schedule_lookups(schedule::Builder& b, const Target& target);

/// The tag of what compares each element with another one: inside a reader that compares again, each would be compared twice, at places all over a vector.
inline constexpr const char* kCompared = "compared";
/// The tag of what runs up along an axis over rows of neighbours, block after block; attributes axis, block.
inline constexpr const char* kRunning = "running";
/// A kernel whose result is such a one and whose other stages are its blocks' totals: a few columns at a time, so that they are read again from a cache; a
/// block's rows are written out, so that each adds one term to the row before. False, with nothing changed, for others.
bool schedule_running(schedule::Builder& b, const Target& target);

/// A reduction, and what is computed from its results one by one, with operands in blocks of one length along one axis, and so the output, or its last axis
/// is that one: pools of images in blocks of channels, and their means. The vectors are the blocks. False, with nothing changed, for others.
bool schedule_blocks(schedule::Builder& b, const Target& target, const Choices& how);

/// All stages of a kernel with one output, except those of the arrays in `done`, inside the output's loops, so that what is read several times stays in cache
/// and memory is read and written once. Handles outputs without layouts whose other stages are computed piece by piece for rows of the output (softmax and
/// layer norm along the last axis, sums of rows), or for a few columns at a time (softmax over channels, sums of columns, pools). False, with nothing changed,
/// for others.
bool schedule_rows(schedule::Builder& b, const Target& target, const Choices& how, const std::vector<const ir::BufferNode*>& done);

/// All of a dag by these rules: see rule_schedule in template.h.
Expected<schedule::Schedule> schedule_dag(const te::DagPtr& dag, const Target& target, const std::vector<schedule::LayoutStep>& layouts, const Choices& how);

}  // namespace tw::space::rules
