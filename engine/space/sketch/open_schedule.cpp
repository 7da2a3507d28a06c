// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/open_schedule.h"

#include <algorithm>
#include <bit>
#include <functional>
#include <unordered_map>

#include "engine/base/assert.h"
#include "engine/base/hash.h"
#include "engine/ir/visit.h"
#include "engine/space/knobs/split.h"
#include "engine/space/sketch/program.h"

namespace tw::space {

using schedule::Annotation;
using schedule::ComputeLocation;
using te::AxisKind;

namespace {

/// Of numbers that are in no group.
constexpr int64_t kMostFree = 1024;

/// Fuses loops [0, count) of a stage; returns an error as the step has it.
Expected<void> fuse_outer(schedule::Schedule& s, int stage, int count) {
  if (count < 2) return {};
  schedule::FuseStep fuse{stage, {}};
  for (int k = 0; k < count; ++k) fuse.iters.push_back(k);
  return s.append(fuse);
}

/// Of a loop the last piece, of so many iterations.
Expected<void> split_off(schedule::Schedule& s, int stage, int loop, int64_t length) {
  return s.append(schedule::SplitStep{stage, loop, s.stages()[static_cast<size_t>(stage)].iters[static_cast<size_t>(loop)].extent, {length}});
}

/// The innermost loop by vectors: that of a tile as it is, of other stages a piece of it.
Expected<void> open_vector(schedule::Schedule& s, int i, bool tile) {
  const schedule::Stage& st = s.stages()[static_cast<size_t>(i)];
  if (st.iters.empty()) return {};
  const int last = static_cast<int>(st.iters.size()) - 1;
  const schedule::Iter& it = st.iters.back();
  if (it.kind == AxisKind::reduce || it.annotation != Annotation::none || has_attached(s, i, st.iters.size() - 1)) return {};
  if (tile) return s.append(schedule::AnnotationStep{i, last, Annotation::vectorize});
  TW_CHECK(split_off(s, i, last, 1));
  return s.append(schedule::AnnotationStep{i, last + 1, Annotation::vectorize});
}

/// The outermost loops as one parallel loop: the outermost level of tiles, or pieces of all loops up to the vectors or the reduction.
Expected<void> open_parallel(schedule::Schedule& s, int i, bool tiled) {
  const schedule::Stage& st = s.stages()[static_cast<size_t>(i)];
  int count = 0;
  bool attached = false;
  for (size_t k = 0; k < st.iters.size() && !attached && (!tiled || k < st.op.axes.size()); ++k) {
    if (st.iters[k].kind == AxisKind::reduce || st.iters[k].annotation != Annotation::none) break;
    ++count;
    attached = has_attached(s, i, k);
  }
  if (count == 0) return {};
  TW_CHECK(fuse_outer(s, i, count));
  if (!tiled && !attached) TW_CHECK(split_off(s, i, 0, 1));
  return s.append(schedule::AnnotationStep{i, 0, Annotation::parallel});
}

/// Lengths that become parts of definitions are held: of partial sums, as many as fill vectors or keep the cores busy.
std::vector<schedule::Step> with_partial_sums(const Sketch& sketch) {
  constexpr int64_t kSums = 16;
  std::vector<schedule::Step> steps = sketch.steps;
  for (size_t k = 0; k + 1 < steps.size(); ++k) {
    auto* split = std::get_if<schedule::SplitStep>(&steps[k]);
    const auto* partial = std::get_if<schedule::RfactorStep>(&steps[k + 1]);
    if (split == nullptr || partial == nullptr || split->stage != partial->stage || split->lengths.size() != 1) continue;
    int64_t sums = 1;
    for (const int64_t d : divisors(split->extent))
      if (d <= kSums) sums = d;
    split->lengths[0] = partial->iter == split->iter ? split->extent / sums : sums;
  }
  return steps;
}

Expected<schedule::Schedule> marked_for_processor(const Sketch& sketch, const Target& target) {
  TW_TRY(schedule::Schedule s, schedule::Schedule::replay(sketch.dag, with_partial_sums(sketch)));
  for (int i = 0; i < static_cast<int>(s.stages().size()); ++i) {
    const schedule::Stage& st = s.stages()[static_cast<size_t>(i)];
    if (!schedule::has_loops(st)) continue;
    const bool root = st.location == ComputeLocation::root, tiled = is_tiled(st);
    const bool tile = std::any_of(sketch.tiled.begin(), sketch.tiled.end(), [&](const TiledStage& t) { return t.stage == st.op.name; });
    TW_CHECK(open_vector(s, i, tile));
    if (root) TW_CHECK(open_parallel(s, i, tiled));
  }
  Rng rng(1);
  const DrawOptions options;
  Draft draft{sketch, target, options, rng, std::move(s)};
  TW_CHECK(unroll_annotation().apply(draft));
  return std::move(draft.s);
}

/// Rules that bind threads look at numbers, so that these are drawn until they can be.
Expected<schedule::Schedule> marked_for_gpu(const Sketch& sketch, const Target& target) {
  constexpr uint64_t kTries = 64;
  DrawOptions options;
  options.uneven = 0;
  Error why(ErrorCode::illegal_schedule, "Expected numbers that a block can have, found none");
  for (uint64_t seed = 0; seed < kTries; ++seed) {
    Rng rng(seed);
    auto s = random_schedule(sketch, target, options, rng);
    if (s) return s;
    why = s.error();
  }
  return why;
}

/// The most that a split's only length may be: that of vectors is what one access takes.
int64_t most_of(const std::vector<schedule::Step>& steps, size_t k, const schedule::Schedule& s, const Target& target) {
  const auto& split = std::get<schedule::SplitStep>(steps[k]);
  const auto* mark = k + 1 < steps.size() ? std::get_if<schedule::AnnotationStep>(&steps[k + 1]) : nullptr;
  if (mark == nullptr || mark->annotation != Annotation::vectorize || mark->stage != split.stage) return kMostFree;
  const DType type = s.stages()[static_cast<size_t>(split.stage)].op.output->dtype;
  return target.gpu ? std::max<int64_t>(1, kMaxVectorBytes / type.bytes()) : std::max<int64_t>(DrawOptions().max_vector, target.lanes(type));
}

/// Why the numbers of steps are not loops' alone.
std::optional<std::string> obstacle(const std::vector<schedule::Step>& steps) {
  const auto instruction = [](const schedule::Step& step) { return std::holds_alternative<schedule::TensorizeStep>(step); };
  if (std::any_of(steps.begin(), steps.end(), instruction)) return "its innermost loops are an instruction's, whose tiles are few and fixed";
  for (const schedule::Step& step : steps) {
    if (std::holds_alternative<schedule::PadStep>(step)) return "its loops are rounded up to tiles, so that what they compute depends on the numbers";
    if (const auto* split = std::get_if<schedule::SplitStep>(&step); split && !split->from_inside) return "a loop is split from outside";
    if (const auto* fused = std::get_if<schedule::FollowFusedSplitStep>(&step); fused && !fused->from_inside) return "a loop is split from outside";
  }
  return std::nullopt;
}

}  // namespace

std::vector<schedule::Step> OpenSchedule::with_numbers(std::span<const int64_t> numbers) const {
  std::vector<schedule::Step> out = steps;
  size_t next = 0;
  for (schedule::Step& step : out) {
    if (auto* split = std::get_if<schedule::SplitStep>(&step))
      for (int64_t& l : split->lengths) l = numbers[next++];
    if (auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) unroll->steps = numbers[next++];
  }
  TW_ASSERT(next == numbers.size(), "a schedule is asked for with its numbers");
  return out;
}

Expected<OpenSchedule> open_schedule(const Sketch& sketch, const Target& target) {
  if (const auto why = obstacle(sketch.steps)) return Error(ErrorCode::not_applicable, "Expected a sketch whose numbers are lengths of its loops, found that " + *why);
  TW_TRY(const schedule::Schedule s, target.gpu ? marked_for_gpu(sketch, target) : marked_for_processor(sketch, target));
  TW_TRY(const Program program, Program::make(sketch.dag, s.steps()));
  OpenSchedule out{sketch.dag, s.steps(), {}, {}};
  const auto is_held = [&](int k) { return std::find(program.held().begin(), program.held().end(), k) != program.held().end(); };
  const bool can_be_open = program.can_be_exact();
  if (!can_be_open) return Error(ErrorCode::not_applicable, "Expected a sketch whose regions follow from its numbers, found one whose do not");
  int next = 0;
  for (size_t k = 0; k < out.steps.size(); ++k) {
    if (const auto* split = std::get_if<schedule::SplitStep>(&out.steps[k])) {
      const bool tile = std::binary_search(sketch.open.begin(), sketch.open.end(), static_cast<int>(k));
      OpenSchedule::Group group{split->extent, {}};
      for (size_t l = 0; l < split->lengths.size(); ++l, ++next) {
        if (is_held(next)) continue;
        if (tile)
          group.numbers.push_back(next);
        else
          out.free.push_back({next, most_of(out.steps, k, s, target)});
      }
      if (!group.numbers.empty()) out.groups.push_back(std::move(group));
    } else if (std::holds_alternative<schedule::AutoUnrollStep>(out.steps[k])) {
      if (!is_held(next)) out.free.push_back({next, unroll_choices(target).back()});
      ++next;
    }
  }
  return out;
}

uint64_t family_of(const te::Dag& dag) {
  // What an op is told by; one that pads is what it reads.
  std::unordered_map<const ir::BufferNode*, uint64_t> known;
  uint64_t all = 0;
  for (const te::Op& op : dag.ops) {
    uint64_t& own = known[op.output.get()];
    if (op.is_placeholder()) {
      own = hash_combine(static_cast<uint64_t>(op.role), op.output->shape.size());
      continue;
    }
    own = stable_hash(op.tag, static_cast<uint64_t>(op.reducer));
    own = hash_combine(own, op.axes.size());
    // Of a product with a name its name says what it computes: strides and borders are written into its body.
    const bool named = !op.tag.empty() && op.reducer != te::Reducer::none;
    const std::function<void(const ir::Expr&)> visit = [&](const ir::Expr& e) {
      if (!named) own = hash_combine(own, static_cast<uint64_t>(e->kind()));
      if (const auto* load = ir::as<ir::LoadNode>(e)) {
        const auto source = known.find(load->buffer.get());
        own = hash_combine(own, source == known.end() ? 0 : source->second);
        if (named) return;
        // Which axes an index moves by, and whether sums do: not how far.
        for (const ir::Expr& at : load->indices) {
          uint64_t moved = 1;
          for (size_t k = 0; k < op.axes.size(); ++k)
            if (op.axes[k].extent > 1 && ir::uses_var(at, op.axes[k].var.get())) moved = hash_combine(moved, k + 1);
          own = hash_combine(own, moved);
        }
        return;
      }
      if (const auto* b = ir::as<ir::BinaryNode>(e); b != nullptr && !named) own = hash_combine(own, static_cast<uint64_t>(b->op));
      if (const auto* call = ir::as<ir::CallNode>(e); call != nullptr && !named) own = hash_combine(own, static_cast<uint64_t>(call->function));
      if (const auto* literal = ir::as<ir::FloatImmNode>(e); literal != nullptr && !named) own = hash_combine(own, std::bit_cast<uint64_t>(literal->value));
      ir::for_each_child(e, visit);
    };
    if (op.tag == "pad")
      ir::walk(*op.body, [&](const ir::Expr& e) {
        if (const auto* load = ir::as<ir::LoadNode>(e)) own = known.contains(load->buffer.get()) ? known.at(load->buffer.get()) : own;
      });
    else
      visit(*op.body);
    if (op.tag != "pad") all = hash_combine(all, own);
  }
  return all;
}

OpenSchedule opened(const te::DagPtr& dag, std::vector<schedule::Step> steps) {
  OpenSchedule out{dag, std::move(steps), {}, {}};
  int next = 0;
  for (const schedule::Step& step : out.steps) {
    if (const auto* split = std::get_if<schedule::SplitStep>(&step)) {
      int64_t product = 1;
      for (const int64_t l : split->lengths) product *= std::max<int64_t>(1, l);
      OpenSchedule::Group group{split->extent, {}};
      const bool divides = split->extent > 1 && split->extent % product == 0;  // 1 may be what it was before lengths were put in
      for (size_t l = 0; l < split->lengths.size(); ++l, ++next) {
        if (divides)
          group.numbers.push_back(next);
        else
          out.free.push_back({next, std::max(kMostFree, split->lengths[l])});
      }
      if (!group.numbers.empty()) out.groups.push_back(std::move(group));
    } else if (const auto* unroll = std::get_if<schedule::AutoUnrollStep>(&step)) {
      out.free.push_back({next++, std::max(kMostFree, unroll->steps)});
    }
  }
  return out;
}

}  // namespace tw::space
