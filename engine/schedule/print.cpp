// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/ir/visit.h"
#include "engine/schedule/schedule.h"

namespace tw::schedule {

namespace {

std::string layout_text(const std::vector<LayoutStep::Piece>& pieces) {
  std::string out;
  for (const auto& p : pieces) out += p.factor ? fmt::format("[d{}: {}]", p.dim, p.factor) : fmt::format("[d{}]", p.dim);
  return out;
}

/// The step in words, with the names that stages and loops had before it.
std::string describe(const Step& step, const Schedule& before) {
  const auto stage = [&](int i) { return before.stages()[static_cast<size_t>(i)].op.name; };
  const auto loop = [&](int s, int i) { return before.stages()[static_cast<size_t>(s)].iters[static_cast<size_t>(i)].var->name; };
  return std::visit(ir::Overloaded{[&](const SplitStep& s) { return fmt::format("split({}, {}, factors=[{}])", stage(s.stage), loop(s.stage, s.iter), fmt::join(s.lengths, ", ")); },
                                   [&](const FuseStep& s) {
                                     std::vector<std::string> names;
                                     for (const int i : s.iters) names.push_back(loop(s.stage, i));
                                     return fmt::format("fuse({}, {})", stage(s.stage), fmt::join(names, ", "));
                                   },
                                   [&](const ReorderStep& s) {
                                     std::vector<std::string> names;
                                     for (const int i : s.order) names.push_back(loop(s.stage, i));
                                     return fmt::format("reorder({}, {})", stage(s.stage), fmt::join(names, ", "));
                                   },
                                   [&](const AnnotationStep& s) {
                                     if (is_binding(s.annotation)) return fmt::format("bind({}, {}, {})", stage(s.stage), loop(s.stage, s.iter), annotation_name(s.annotation));
                                     return fmt::format("{}({}, {})", annotation_name(s.annotation), stage(s.stage), loop(s.stage, s.iter));
                                   },
                                   [&](const ComputeAtStep& s) { return fmt::format("compute_at({}, {}, {})", stage(s.stage), stage(s.target_stage), loop(s.target_stage, s.target_iter)); },
                                   [&](const ComputeInlineStep& s) { return fmt::format("compute_inline({})", stage(s.stage)); },
                                   [&](const ComputeRootStep& s) { return fmt::format("compute_root({})", stage(s.stage)); },
                                   [&](const CacheReadStep& s) { return fmt::format("cache_read({}, \"{}\")", stage(s.stage), s.scope); },
                                   [&](const CacheWriteStep& s) { return fmt::format("cache_write({}, \"{}\")", stage(s.stage), s.scope); },
                                   [&](const LayoutStep& s) { return fmt::format("layout({}, {})", stage(s.stage), layout_text(s.pieces)); },
                                   [&](const RfactorStep& s) { return fmt::format("rfactor({}, {}, axis={})", stage(s.stage), loop(s.stage, s.iter), s.factor_iter); },
                                   [&](const StorageAlignStep& s) {
                                     return fmt::format("storage_align({}, {}, factor={}, offset={})", stage(s.stage), loop(s.stage, s.iter), s.factor, s.offset);
                                   },
                                   [&](const PadStep& s) { return fmt::format("pad({}, {}, {})", stage(s.stage), loop(s.stage, s.iter), s.factor); },
                                   [&](const DoubleBufferStep& s) { return fmt::format("double_buffer({})", stage(s.stage)); },
                                   [&](const WinogradStep& s) { return fmt::format("winograd({}, tile={}{})", stage(s.stage), s.tile, s.flat ? ", flat" : ""); },
                                   [&](const PipelineStep& s) { return fmt::format("pipeline({}, arrays={})", stage(s.stage), s.arrays); },
                                   [&](const TensorizeStep& s) { return fmt::format("tensorize({}, {})", stage(s.stage), loop(s.stage, s.iter)); },
                                   [&](const Im2colStep& s) {
                                     if (s.term < 0) return fmt::format("im2col({})", stage(s.stage));
                                     return fmt::format("im2col({}, {}, pixels={}, filters={}, terms={})", stage(s.stage), loop(s.stage, s.term), s.pixels, s.filters, s.terms);
                                   }},
                    step);
}

void print_stage(const Schedule& s, int index, int depth, PrintedLoops& out) {
  const Stage& st = s.stages()[static_cast<size_t>(index)];
  const auto line = [&](int d, LoopLine::Kind kind, int loop, const std::string& text) {
    out.text.append(static_cast<size_t>(d) * 2, ' ').append(text).push_back('\n');
    out.lines.push_back({kind, index, loop});
  };
  line(depth, LoopLine::Kind::head, -1, fmt::format("{}{}:", st.op.name, st.layout.empty() ? "" : " " + layout_text(st.layout)));
  int d = depth + 1;
  for (size_t i = 0; i < st.iters.size(); ++i) {
    const Iter& it = st.iters[i];
    line(d, LoopLine::Kind::loop, static_cast<int>(i),
         fmt::format("for {} in {}{}{}", it.var->name, it.extent, it.kind == te::AxisKind::reduce ? " (reduce)" : "",
                     it.annotation == Annotation::none ? "" : fmt::format(" [{}]", annotation_name(it.annotation))));
    ++d;
    for (size_t j = 0; j < s.stages().size(); ++j) {
      const Stage& inner = s.stages()[j];
      if (inner.location == ComputeLocation::at && inner.at_stage == index && inner.at_iter->same_as(it.var)) print_stage(s, static_cast<int>(j), d, out);
    }
  }
  line(d, LoopLine::Kind::body, -1, st.op.reducer == te::Reducer::none ? "compute" : fmt::format("update ({})", te::reducer_name(st.op.reducer)));
}

}  // namespace

std::string print_steps(const Schedule& s) {
  std::string out;
  Schedule at(s.dag());
  for (size_t i = 0; i < s.steps().size(); ++i) {
    out += fmt::format("{:>3}  {}\n", i, describe(s.steps()[i], at));
    auto next = at.apply(s.steps()[i]);
    TW_ASSERT(next.has_value(), "a schedule's own steps apply");
    at = std::move(*next);
  }
  return out;
}

PrintedLoops print_loops_with_lines(const Schedule& s) {
  PrintedLoops out;
  for (size_t i = 0; i < s.stages().size(); ++i) {
    const Stage& st = s.stages()[i];
    if (st.op.is_placeholder()) {
      out.text += fmt::format("{} {}[{}]{}\n", st.op.role == te::Role::constant ? "constant" : "input", st.op.name, fmt::join(st.op.output->shape, ", "),
                              st.layout.empty() ? "" : " " + layout_text(st.layout));
      out.lines.push_back({LoopLine::Kind::argument, static_cast<int>(i), -1});
    } else if (st.location == ComputeLocation::inlined) {
      out.text += fmt::format("{} (inlined)\n", st.op.name);
      out.lines.push_back({LoopLine::Kind::inlined, static_cast<int>(i), -1});
    } else if (st.location == ComputeLocation::root) {
      print_stage(s, static_cast<int>(i), 0, out);
    }
  }
  return out;
}

std::string print_loops(const Schedule& s) { return print_loops_with_lines(s).text; }

}  // namespace tw::schedule
