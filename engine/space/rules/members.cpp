// SPDX-License-Identifier: Apache-2.0
#include "engine/space/rules/members.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/access.h"

namespace tw::space::rules {

using schedule::Builder;

namespace {

constexpr int kUnset = -2, kNone = -1;

/// Where an array is read: the member whose axes the reader's element fixes.
void constrain(Member& source, const Member& reader, const te::Op& op, const ir::LoadNode& load) {
  for (size_t k = 0; k < source.axis_of.size(); ++k) {
    int found = kNone;
    if (const int a = reader.axis_of[k]; a >= 0)
      for (size_t d = 0; d < load.indices.size(); ++d)
        if (load.indices[d].get() == op.axes[static_cast<size_t>(a)].var.get()) found = static_cast<int>(d);
    if (source.axis_of[k] == kUnset) source.axis_of[k] = found;
    if (source.axis_of[k] != found) source.axis_of[k] = kNone;
  }
}

}  // namespace

std::optional<Members> find_members(const Builder& b, const std::vector<const ir::BufferNode*>& apart) {
  if (b.outputs().size() != 1) return std::nullopt;
  Members rows;
  rows.output = b.outputs().front();
  const te::Op& out = b.at(rows.output).op;
  const size_t rank = out.axes.size();
  if (rank == 0) return std::nullopt;
  std::vector<int> stages;
  for (int i = 0; i < b.num_stages(); ++i) {
    if (!b.at(i).layout.empty()) return std::nullopt;
    const bool here = std::find(apart.begin(), apart.end(), b.at(i).op.output.get()) == apart.end();
    if (here && schedule::has_loops(b.at(i))) stages.push_back(i);
  }
  if (stages.back() != rows.output || (stages.size() == 1 && out.reducer == te::Reducer::none)) return std::nullopt;
  for (const int i : stages) rows.members.push_back({i, std::vector<int>(rank, kUnset)});
  for (size_t k = 0; k < rank; ++k) rows.members.back().axis_of[k] = static_cast<int>(k);
  for (size_t m = rows.members.size(); m-- > 0;) {
    const Member& reader = rows.members[m];
    const te::Op& op = b.at(reader.stage).op;
    ir::walk(schedule::whole_body(b.all(), reader.stage), [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l) return;
      for (size_t s = 0; s < m; ++s)
        if (b.at(rows.members[s].stage).op.output.get() == l->buffer.get()) constrain(rows.members[s], reader, op, *l);
    });
  }
  rows.shared.assign(rank, true);
  for (const Member& m : rows.members)
    for (size_t k = 0; k < rank; ++k) rows.shared[k] = rows.shared[k] && m.axis_of[k] >= 0;
  return std::any_of(rows.shared.begin(), rows.shared.end(), [](bool s) { return s; }) ? std::optional(std::move(rows)) : std::nullopt;
}

MemberLoops loops_of(const Builder& b, const Member& m, const Members& all) {
  MemberLoops out;
  const te::Op& op = b.at(m.stage).op;
  const std::vector<ir::Var> loops = b.loops(m.stage);
  for (size_t a = 0; a < op.axes.size(); ++a) {
    bool is_shared = false;
    for (size_t k = 0; k < all.shared.size(); ++k) is_shared = is_shared || (all.shared[k] && m.axis_of[k] == static_cast<int>(a));
    (is_shared ? out.shared : out.own).push_back(loops[a]);
    if (!is_shared) out.own_axes.push_back(op.axes[a]);
  }
  out.reduce.assign(loops.begin() + static_cast<std::ptrdiff_t>(op.axes.size()), loops.end());
  return out;
}

void cache_output(Builder& b, Members& m) {
  const int cache = b.cache_write(m.output, "local");
  m.members.back().stage = cache;
  m.output = cache + 1;
  Member copy{m.output, {}};
  for (size_t k = 0; k < m.shared.size(); ++k) copy.axis_of.push_back(static_cast<int>(k));
  m.members.push_back(std::move(copy));
}

}  // namespace tw::space::rules
