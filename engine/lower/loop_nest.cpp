// SPDX-License-Identifier: Apache-2.0
#include "engine/lower/loop_nest.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "engine/lower/loop_extents.h"
#include "engine/schedule/primitives/primitives.h"

namespace tw::lower {

namespace {

void print_stage(const LoopExtents& extents, const schedule::Schedule& s, int index, int depth, PrintedLoops& out) {
  const schedule::Stage& st = s.stages()[static_cast<size_t>(index)];
  const auto line = [&](int d, LoopLine::Kind kind, int loop, const std::string& text) {
    out.text.append(static_cast<size_t>(d) * 2, ' ').append(text).push_back('\n');
    out.lines.push_back({kind, index, loop});
  };
  line(depth, LoopLine::Kind::head, -1, fmt::format("{}{}:", st.op.name, st.layout.empty() ? "" : " " + schedule::layout_text(st.layout)));
  int d = depth + 1;
  for (size_t i = 0; i < st.iters.size(); ++i) {
    const schedule::Iter& it = st.iters[i];
    line(d, LoopLine::Kind::loop, static_cast<int>(i),
         fmt::format("for {} in {}{}{}", it.var->name, extents.of(index, it), it.kind == te::AxisKind::reduce ? " (reduce)" : "",
                     it.annotation == schedule::Annotation::none ? "" : fmt::format(" [{}]", schedule::annotation_name(it.annotation))));
    ++d;
    for (size_t j = 0; j < s.stages().size(); ++j) {
      const schedule::Stage& inner = s.stages()[j];
      if (inner.location == schedule::ComputeLocation::at && inner.at_stage == index && inner.at_iter->same_as(it.var))
        print_stage(extents, s, static_cast<int>(j), d, out);
    }
  }
  line(d, LoopLine::Kind::body, -1, st.op.reducer == te::Reducer::none ? "compute" : fmt::format("update ({})", te::reducer_name(st.op.reducer)));
}

}  // namespace

PrintedLoops print_loops(const schedule::Schedule& s) {
  const LoopExtents extents(s);
  PrintedLoops out;
  for (size_t i = 0; i < s.stages().size(); ++i) {
    const schedule::Stage& st = s.stages()[i];
    if (st.op.is_placeholder()) {
      out.text += fmt::format("{} {}[{}]{}\n", st.op.role == te::Role::constant ? "constant" : "input", st.op.name, fmt::join(st.op.output->shape, ", "),
                              st.layout.empty() ? "" : " " + schedule::layout_text(st.layout));
      out.lines.push_back({LoopLine::Kind::argument, static_cast<int>(i), -1});
    } else if (st.location == schedule::ComputeLocation::inlined) {
      out.text += fmt::format("{} (inlined)\n", st.op.name);
      out.lines.push_back({LoopLine::Kind::inlined, static_cast<int>(i), -1});
    } else if (st.location == schedule::ComputeLocation::root) {
      print_stage(extents, s, static_cast<int>(i), 0, out);
    }
  }
  return out;
}

}  // namespace tw::lower
