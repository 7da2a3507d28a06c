// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cuda/tiles.h"

#include <algorithm>
#include <bit>

#include "engine/space/fallback.h"

namespace tw::space::cuda {

using schedule::Annotation;
using schedule::Builder;

namespace {

constexpr Annotation kBlocks[] = {Annotation::block_x, Annotation::block_y, Annotation::block_z};
constexpr Annotation kThreads[] = {Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};

/// Bytes of all banks of shared memory, and how far rows are moved against each other: so that threads still read vectors.
constexpr int64_t kBankBytes = 128, kBankOffset = kVectorBytes;
/// Elements that results are computed in at once, at most.
constexpr int64_t kLongestVector = 16;

/// Threads of a block that add up parts of sums.
constexpr int64_t kAddingThreads = 128;

/// The loops of a stage in shared memory as one, over the threads of a block.
void fetch(Builder& b, int stage, const std::array<int64_t, 3>& threads, int64_t vector) {
  const std::vector<ir::Var> loops = b.loops(stage);
  const ir::Var all = loops.size() > 1 ? b.fuse(stage, loops) : loops.front();
  const auto l = b.split(stage, all, {threads[kZ], threads[kY], threads[kX], vector});
  for (const Direction d : {kX, kY, kZ})
    if (threads[d] > 1) b.bind(stage, l[static_cast<size_t>(3 - d)], kThreads[d]);
  if (vector > 1) b.vectorize(stage, l[4]);
}

/// Loops of one direction side by side become one, bound to `to`.
std::optional<ir::Var> bind_group(Builder& b, int stage, const std::vector<ir::Var>& loops, Annotation to) {
  if (loops.empty()) return std::nullopt;
  const ir::Var all = loops.size() > 1 ? b.fuse(stage, loops) : loops.front();
  b.bind(stage, all, to);
  return all;
}

/// The innermost block loop and the innermost thread loop of the result.
struct Outside {
  ir::Var block, thread;
};

Outside share_out(Builder& b, int out, const Tiling& t) {
  std::vector<ir::Var> axes = b.loops(out);
  if (t.group_channels > 0) {
    const auto groups = b.split(out, axes[1], {t.group_channels});
    axes[1] = groups[0];
    axes.insert(axes.begin() + 2, groups[1]);
  }
  std::array<std::vector<ir::Var>, 3> blocks, threads;
  std::vector<ir::Var> vthreads, inner, order;
  for (size_t k = 0; k < axes.size(); ++k) {
    const auto l = b.split(out, axes[k], {t.axes[k].vthreads, t.axes[k].threads, t.axes[k].inner});
    blocks[t.directions[k]].push_back(l[0]);
    vthreads.push_back(l[1]);
    threads[t.directions[k]].push_back(l[2]);
    inner.push_back(l[3]);
  }
  for (const auto* groups : {&blocks, &threads}) {
    for (const Direction d : {kZ, kY, kX}) order.insert(order.end(), (*groups)[d].begin(), (*groups)[d].end());
    if (groups == &blocks) order.insert(order.end(), vthreads.begin(), vthreads.end());
  }
  order.insert(order.end(), inner.begin(), inner.end());
  b.reorder(out, order);
  for (const ir::Var& v : vthreads) b.bind(out, v, Annotation::vthread);
  std::optional<ir::Var> block, thread;
  for (const Direction d : {kZ, kY, kX}) {
    if (const auto v = bind_group(b, out, blocks[d], kBlocks[d])) block = v;
    if (const auto v = bind_group(b, out, threads[d], kThreads[d])) thread = v;
  }
  return {*block, *thread};
}

/// The loops inside the fetching, outermost first, around so many `steps`, unrolled from the innermost one on.
void unroll_inner(Builder& b, int acc, const std::vector<std::pair<ir::Var, int64_t>>& loops, int64_t steps, const Tiling& t) {
  for (const AxisTile& a : t.axes) steps *= a.vthreads;
  for (size_t k = loops.size(); k-- > 0;) {
    const auto& [loop, extent] = loops[k];
    if (steps * extent > t.max_unroll) {
      int64_t fit = 1;
      for (int64_t n = 2; n * steps <= t.max_unroll; ++n)
        if (extent % n == 0) fit = n;
      if (t.unroll_part && fit > 1) b.unroll(acc, b.split(acc, loop, {fit})[1], t.unroll_explicit);
      return;
    }
    b.unroll(acc, loop, t.unroll_explicit);
    steps *= extent;
  }
}

}  // namespace

std::optional<cpu::Anchor> find_anchor(const te::Dag& dag, std::string_view tag, te::Role weight) {
  for (const DType type : {kFloat32, kFloat16, kBFloat16})
    if (auto a = cpu::find_anchor(dag, tag, weight, type)) return a;
  return std::nullopt;
}

AxisTile axis_tile(const ConfigEntity& e, const std::string& knob) {
  const std::vector<int64_t>& f = e.split(knob);
  return f.size() == 4 ? AxisTile{f[1], f[2], f[3]} : AxisTile{1, f[1], f[2]};
}

int64_t padded_row(int64_t elements, DType type) {
  const int64_t banks = kBankBytes / type.bytes(), offset = kBankOffset / type.bytes();
  return elements + ((offset - elements) % banks + banks) % banks;
}

std::array<int64_t, 3> Tiling::threads() const {
  std::array<int64_t, 3> out{1, 1, 1};
  for (size_t k = 0; k < axes.size(); ++k) out[directions[k]] *= axes[k].threads;
  return out;
}

/// Names by value: steps move the stages that have them.
void tile_product(Builder& b, std::string out_name, std::string acc_name, const std::vector<std::string>& operands, const Tiling& t) {
  std::vector<std::string> tiles;  // empty: none
  for (size_t k = 0; k < operands.size(); ++k) {
    tiles.emplace_back();
    if (t.vector[k] == 0) continue;
    const int tile = b.cache_read(b.stage(operands[k]), {b.stage(acc_name)}, "shared");
    if (!b.ok()) return;
    tiles.back() = b.at(tile).op.name;
  }
  const int out = b.stage(out_name), acc = b.stage(acc_name);
  const Outside outside = share_out(b, out, t);
  b.compute_at(acc, out, outside.thread);
  const int64_t results = t.axes.back().inner;
  const bool vectors = t.vectors_of_results && results > 1 && results <= kLongestVector && std::has_single_bit(static_cast<uint64_t>(results));
  if (vectors) b.vectorize(out, b.loops(out).back());

  const std::vector<ir::Var> loops = b.loops(acc);
  const size_t rank = b.at(acc).op.axes.size();
  std::vector<ir::Var> order;
  std::vector<std::pair<ir::Var, int64_t>> inner;
  for (size_t k = 0; k < t.reduce.size(); ++k) {
    const auto r = b.split(acc, loops[rank + k], {t.reduce[k]});
    order.push_back(r[0]);
    inner.emplace_back(r[1], t.reduce[k]);
  }
  const size_t groups = t.group_channels > 0 ? 1 : 0;  // a thread computes channels of one
  for (size_t k = 0; k < rank; ++k) inner.emplace_back(loops[k], t.axes[k == 0 ? 0 : k + groups].inner);
  const ir::Var fetching = order.back();
  for (const auto& [v, extent] : inner) order.push_back(v);
  b.reorder(acc, order);
  for (size_t k = 0; k < tiles.size(); ++k) {
    if (tiles[k].empty()) continue;
    const int tile = b.stage(tiles[k]);
    if (t.fetch_once)
      b.compute_at(tile, out, outside.block);
    else
      b.compute_at(tile, acc, fetching);
    if (t.terms_outside) {
      b.layout(tile, {{1, 0}, {0, 0}});
      const int64_t bytes = b.at(tile).op.output->dtype.bytes();
      b.storage_align(tile, b.loops(tile)[1], kBankBytes / bytes, kBankOffset / bytes);
    }
    if (t.across[k]) {
      const int64_t bytes = b.at(tile).op.output->dtype.bytes();
      const std::vector<ir::Var> own = b.loops(tile);
      b.layout(tile, {{0, 0}, {1, 0}});  // not in the order of the loops
      b.storage_align(tile, own[0], kBankBytes / bytes, kBankOffset / bytes);
      b.reorder(tile, {own[1], own[0]});
    }
    if (const auto& layout = b.at(b.stage(operands[k])).layout; !layout.empty()) {  // as it lies in memory
      const std::vector<ir::Var> own = b.loops(tile);
      std::vector<ir::Var> walk;
      for (const auto& piece : layout) walk.push_back(own[static_cast<size_t>(piece.dim)]);
      b.reorder(tile, walk);
    }
    fetch(b, tile, t.threads(), t.vector[k]);
    if (t.double_buffer) b.double_buffer(tile);
    if (t.pipeline > 0) b.pipeline(tile, t.pipeline);
  }
  if (vectors) {
    b.vectorize(acc, inner.back().first);
    inner.pop_back();
  }
  unroll_inner(b, acc, inner, vectors ? results : 1, t);
}

Expected<schedule::Schedule> tiled_schedule(const te::DagPtr& dag, const cpu::Anchor& a, const Tiling& t) {
  Builder b(dag);
  const auto name_of = [&](int op) { return dag->ops[static_cast<size_t>(op)].name; };
  cpu::inline_epilogue(b, a);
  int output = 0;
  const int sum = cpu::accumulator_stage(b, a, output);
  if (!b.ok()) return std::move(b).finish();
  tile_product(b, b.at(output).op.name, b.at(sum).op.name, {name_of(a.pad >= 0 ? a.pad : a.data), name_of(a.weight)}, t);
  if (a.pad >= 0) b.compute_inline(b.stage(name_of(a.pad)));
  return std::move(b).finish();
}

std::string share_sum(Builder& b, int sum, const std::string& out, int64_t parts) {
  const std::string sum_name = b.at(sum).op.name;
  const ir::Var terms = b.loops(sum)[b.at(sum).op.axes.size()];
  const int64_t extent = b.at(sum).op.reduce_axes.front().extent;
  const int partial = b.rfactor(sum, b.split(sum, terms, {extent / parts})[0], 0);
  if (!b.ok()) return {};
  const std::string partial_name = b.at(partial).op.name;
  const int total = b.stage(sum_name), output = b.stage(out);
  const std::vector<ir::Var> loops = b.loops(output);  // the sum's own after the results', where nothing follows it
  const std::vector<ir::Var> results(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(b.at(output).op.axes.size()));
  const auto flat = b.split(output, b.fuse(output, results), {kAddingThreads});
  b.bind(output, flat[0], Annotation::block_x);
  b.bind(output, flat[1], Annotation::thread_x);
  if (total != output) b.compute_at(total, output, flat[1]);
  b.unroll(total, b.loops(total).back());
  return partial_name;
}

void add_limits(ConfigSpace& space, const Target& target, std::function<Tiling(const ConfigEntity&)> tiling,
                std::function<int64_t(const ConfigEntity&)> shared_bytes) {
  space.add_filter(
      [tiling](const ConfigEntity& e) {
        const auto threads = tiling(e).threads();
        return threads[kX] * threads[kY] * threads[kZ] <= target::kMaxBlockThreads && threads[kZ] <= target::kMaxThreadsZ;
      },
      "a block has too many threads");
  space.add_filter(
      [tiling](const ConfigEntity& e) {
        const Tiling t = tiling(e);
        const auto threads = t.threads();
        int64_t sums = 1;
        for (const AxisTile& a : t.axes) sums *= a.vthreads * a.inner;
        return sums <= target::kMaxThreadRegisters && sums * threads[kX] * threads[kY] * threads[kZ] <= target::kMaxBlockRegisters;
      },
      "the results of a thread do not fit its registers");
  const int64_t most = target::gpu_arch(target.gpu->capability).shared_opt_in;
  space.add_filter([shared_bytes, most](const ConfigEntity& e) { return shared_bytes(e) <= most; }, "the tiles do not fit the shared memory of a block");
}

void define_unroll(ConfigSpace& space, std::vector<Json> steps) {
  space.define_knob("auto_unroll_max_step", std::move(steps), "loops around at most so many multiply-adds are unrolled");
  space.define_knob("unroll_explicit", {0, 1}, "1: unrolled loops are written out in the code; 0: NVIDIA's compiler unrolls them");
}

void set_unroll(Tiling& t, const ConfigEntity& e) {
  t.max_unroll = e.integer("auto_unroll_max_step");
  t.unroll_explicit = e.integer("unroll_explicit") != 0;
}

ConfigEntity limited_point(const ConfigSpace& space, const std::vector<std::pair<std::string, std::vector<int64_t>>>& limits,
                           const std::vector<std::pair<std::string, Json>>& others) {
  for (int64_t shrink = 1; shrink <= 64; shrink *= 2) {
    std::vector<std::pair<std::string, Json>> values = others;
    for (const auto& [name, limit] : limits) {
      const auto knob = std::find_if(space.knobs().begin(), space.knobs().end(), [&, n = name](const Knob& k) { return k.name == n; });
      std::vector<int64_t> now = limit;
      if (name == limits.front().first)
        for (int64_t& l : now)
          if (l > 0) l = std::max<int64_t>(1, l / shrink);
      std::vector<int64_t> factors = fallback_split(knob->extent, now);
      factors[0] = -1;
      values.emplace_back(name, factors);
    }
    ConfigEntity e = point_with(space, values);
    if (space.filtered_reason(e).empty()) return e;
  }
  return {};
}

ConfigEntity busy_point(const Target& target, const std::vector<TileLimits>& limits, const std::function<ConfigEntity(const TileLimits&)>& point,
                        const std::function<int64_t(const ConfigEntity&)>& blocks) {
  ConfigEntity best;
  for (const TileLimits& l : limits) {
    ConfigEntity e = point(l);
    if (e.index() < 0) continue;
    const bool busy = blocks(e) >= target.gpu->multiprocessors;
    best = std::move(e);
    if (busy) break;
  }
  return best;
}

}  // namespace tw::space::cuda
