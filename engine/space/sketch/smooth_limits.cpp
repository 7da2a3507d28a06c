// SPDX-License-Identifier: Apache-2.0
#include "engine/space/sketch/smooth_limits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "engine/schedule/loops.h"
#include "engine/space/sketch/draw.h"
#include "engine/target/gpu.h"

namespace tw::space {

using schedule::Annotation;
using schedule::ComputeLocation;
using Id = Tape::Id;

namespace {

class Limits {
 public:
  Limits(const SmoothProgram& p, Tape& tape, const Target& target) : p_(p), t_(tape), target_(target) {}

  std::vector<SmoothLimit> all() && {
    target_.gpu ? blocks() : cores();
    return std::move(out_);
  }

 private:
  const schedule::Stage& stage(int i) const { return p_.program().scheduled()[static_cast<size_t>(i)]; }
  int stages() const { return static_cast<int>(p_.stages().size()); }
  static double bytes(const schedule::Stage& st) { return static_cast<double>(st.op.output->dtype.bytes()); }

  void at_most(const std::string& what, const schedule::Stage& of, Id used, double limit) {
    const Id excess = t_.sum({{used}}, -std::log(limit));
    if (t_.highest(excess) > 0) out_.push_back({what + " of '" + of.op.name + "'", excess});
  }

  void blocks() {
    struct Block {
      std::array<Id, 3> threads;
      Id virtual_threads, shared, sums;
    };
    const Id one = t_.constant(0);
    std::map<int, Block> blocks;  // by root stage
    for (int i = 0; i < stages(); ++i) {
      const schedule::Stage& st = stage(i);
      if (!schedule::has_loops(st)) continue;
      Block& block = blocks.try_emplace(schedule::root_of(p_.program().scheduled(), i), Block{{one, one, one}, one, one, one}).first->second;
      const Program::Stage& loops = p_.program().stages()[static_cast<size_t>(i)];
      Id virtual_threads = one;
      for (int k = loops.first_loop; k < loops.first_loop + loops.loops; ++k) {
        const Id n = p_.loops()[static_cast<size_t>(k)];
        const Annotation mark = p_.program().loops()[static_cast<size_t>(k)].annotation;
        const Annotation axes[] = {Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};
        for (size_t axis = 0; axis < 3; ++axis)
          if (mark == axes[axis]) block.threads[axis] = t_.most(block.threads[axis], n);
        if (mark == Annotation::vthread) virtual_threads = t_.plus(virtual_threads, n);
        if (mark == Annotation::vectorize) at_most("bytes of a vector", st, t_.sum({{n}}, std::log(bytes(st))), static_cast<double>(kMaxVectorBytes));
      }
      block.virtual_threads = t_.most(block.virtual_threads, virtual_threads);
    }
    for (int i = 0; i < stages(); ++i) {
      const schedule::Stage& st = stage(i);
      if (!schedule::has_loops(st) || st.location != ComputeLocation::at) continue;
      Block& block = blocks.at(schedule::root_of(p_.program().scheduled(), i));
      const Id elements = p_.stages()[static_cast<size_t>(i)].elements;
      const auto add = [&](Id& to, Id more, double times) { to = t_.log(t_.sum({{to == one ? t_.constant(0) : t_.exp(to)}, {t_.exp(more), times}})); };
      if (st.scope == ir::Scope::shared || st.pipeline > 0) add(block.shared, elements, bytes(st) * (st.double_buffer ? 2 : std::max(1, st.pipeline)));
      // What threads sum up together is one element of each of them.
      const bool together = std::any_of(st.iters.begin(), st.iters.end(), [](const schedule::Iter& it) { return it.kind == te::AxisKind::reduce && schedule::is_thread(it.annotation); });
      if (st.scope == ir::Scope::local && !together) add(block.sums, t_.plus(elements, block.virtual_threads), bytes(st) / 4);
    }
    const int64_t shared = target::gpu_arch(target_.gpu->capability).shared_opt_in;
    for (const auto& [root, block] : blocks) {
      const schedule::Stage& st = stage(root);
      const Id threads = t_.sum({{block.threads[0]}, {block.threads[1]}, {block.threads[2]}});
      at_most("threads of a block", st, threads, target::kMaxBlockThreads);
      at_most("virtual threads", st, block.virtual_threads, kMaxVirtualThreads);
      at_most("shared memory of a block", st, block.shared, static_cast<double>(shared));
      at_most("sums in registers of a thread", st, block.sums, target::kMaxThreadRegisters);
      int64_t elements = 1;
      for (const te::Axis& a : st.op.axes) elements *= a.extent;
      if (block.virtual_threads != one) at_most("fewest threads of a block", st, t_.sum({{threads, -1}}), 1.0 / static_cast<double>(least_threads(elements)));
    }
  }

  void cores() {
    const DrawOptions options;
    for (int i = 0; i < stages(); ++i) {
      const schedule::Stage& st = stage(i);
      if (!schedule::has_loops(st)) continue;
      const Program::Stage& loops = p_.program().stages()[static_cast<size_t>(i)];
      const int lanes = target_.lanes(st.op.output->dtype), end = loops.first_loop + loops.loops;
      int first_reduce = end, last_reduce = -1;
      for (int k = loops.first_loop; k < end; ++k) {
        const Program::Loop& l = p_.program().loops()[static_cast<size_t>(k)];
        if (l.annotation == Annotation::vectorize) at_most("vectors", st, p_.loops()[static_cast<size_t>(k)], std::max<double>(options.max_vector, lanes));
        if (l.kind == te::AxisKind::reduce) first_reduce = std::min(first_reduce, k), last_reduce = k;
      }
      // Of a tile, levels of the reduction with loops over results between and inside them.
      bool between = false;
      Id results = t_.constant(0);
      for (int k = first_reduce; k < end; ++k) {
        const bool spatial = p_.program().loops()[static_cast<size_t>(k)].kind == te::AxisKind::spatial;
        between = between || (spatial && k < last_reduce);
        if (spatial && k > last_reduce) results = t_.plus(results, p_.loops()[static_cast<size_t>(k)]);
      }
      at_most("results in registers", st, results, static_cast<double>(lanes) * target_.vector_registers);
      if (between) at_most("level-2 cache", st, inside(i, first_reduce, end), static_cast<double>(target_.l2_bytes));
    }
  }

  /// Bytes that the loops of a stage touch that lie inside the first level of its reduction.
  Id inside(int i, int first_reduce, int end) {
    int first = first_reduce;
    while (first < end && p_.program().loops()[static_cast<size_t>(first)].kind == te::AxisKind::reduce) ++first;
    const auto moves = [&](const SmoothProgram::Term& t) { return t.loop >= first && t.loop < end; };
    std::vector<Tape::Part> all;
    const SmoothProgram::Stage& own = p_.stages()[static_cast<size_t>(i)];
    const auto add = [&](const schedule::Stage& array, const std::vector<SmoothProgram::Index>& indices) {
      Id elements = t_.constant(0);
      for (size_t d = 0; d < indices.size(); ++d) elements = t_.plus(elements, p_.extent_of(indices[d], array.op.output->shape[d], moves));
      all.push_back({t_.exp(elements), bytes(array)});
    };
    const Program::Stage& st = p_.program().stages()[static_cast<size_t>(i)];
    add(stage(i), {own.values.begin(), own.values.begin() + static_cast<std::ptrdiff_t>(st.spatial)});
    for (const Program::Read& r : st.reads) {
      std::vector<SmoothProgram::Index> indices;
      for (const Program::Index& index : r.indices) indices.push_back(p_.over_loops(index, own));
      add(stage(r.source), indices);
    }
    return t_.log(t_.sum(std::move(all)));
  }

  const SmoothProgram& p_;
  Tape& t_;
  const Target& target_;
  std::vector<SmoothLimit> out_;
};

}  // namespace

std::vector<SmoothLimit> smooth_limits(const SmoothProgram& program, Tape& tape, const Target& target) { return Limits(program, tape, target).all(); }

}  // namespace tw::space
