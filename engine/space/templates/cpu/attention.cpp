// SPDX-License-Identifier: Apache-2.0
// softmax(f(queries keys)) values, as fuse_attention makes one kernel of it: a few queries go through all stages before the next ones.
#include "engine/space/templates/templates.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/space/rules/rules.h"
#include "engine/space/templates/cpu/blocked.h"

namespace tw::space::cpu {

namespace {

/// The ops of an attention, by what they compute.
struct Attention {
  int scores = -1;  ///< the product of queries and keys
  int shown = -1;   ///< what the softmax sees: the scores, or the last elementwise op on them
  int softmax = -1;
  int values = -1;  ///< the product with the values
  int output = -1;
  std::vector<int> rows;  ///< between them: maximum, exponentials, sum and what else the softmax has, ascending
};

/// Where an op reads another one; the last place of several.
const ir::LoadNode* read_of(const te::Op& op, const te::Op& source) {
  const ir::LoadNode* found = nullptr;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (l && l->buffer.same_as(source.output)) found = l;
  });
  return found;
}
bool reads(const te::Op& op, const te::Op& source) { return read_of(op, source) != nullptr; }

/// Whether a reduction runs along the last axis of what it reads.
bool along_rows(const te::Op& op, const te::Op& source) {
  return op.reduce_axes.size() == 1 && read_of(op, source)->indices.back().get() == op.reduce_axes[0].var.get();
}

bool is_product(const te::Op& op) { return (op.tag == "batch_matmul" || op.tag == "matmul") && op.output->dtype == kFloat32; }

std::optional<Attention> find_attention(const te::Dag& dag) {
  if (dag.outputs.size() != 1) return std::nullopt;
  Attention a;
  a.output = dag.outputs.front();
  const auto op = [&](int i) -> const te::Op& { return dag.ops[static_cast<size_t>(i)]; };
  int maximum = -1, sums = 0;
  for (int i = 0; i < static_cast<int>(dag.ops.size()); ++i) {
    if (op(i).is_placeholder()) continue;
    if (is_product(op(i)) && a.scores < 0) {
      a.scores = i;
    } else if (is_product(op(i))) {
      if (a.softmax < 0 || a.values >= 0 || !reads(op(i), op(a.softmax)) || !along_rows(op(i), op(a.softmax))) return std::nullopt;
      a.values = i;
    } else if (op(i).reducer == te::Reducer::max && maximum < 0) {
      maximum = i;
    } else if (op(i).reducer == te::Reducer::sum && maximum >= 0 && a.softmax < 0 && ++sums == 1) {
      continue;
    } else if (op(i).reducer != te::Reducer::none) {
      return std::nullopt;
    } else if (op(i).tag == "softmax") {
      a.softmax = i;
    }
  }
  if (a.scores < 0 || maximum < a.scores || a.softmax < maximum || a.values < 0) return std::nullopt;
  const std::vector<int64_t>& shape = op(a.scores).output->shape;
  for (int i = a.scores; i < maximum; ++i)
    if (reads(op(maximum), op(i))) a.shown = i;
  if (a.shown < 0 || !along_rows(op(maximum), op(a.shown)) || op(a.shown).output->shape != shape || op(a.softmax).output->shape != shape) return std::nullopt;
  for (int i = maximum; i <= a.softmax; ++i) {
    // Each of them is a row for each query.
    const std::vector<int64_t>& own = op(i).output->shape;
    if (own.size() + 1 < shape.size() || !std::equal(shape.begin(), shape.end() - 1, own.begin())) return std::nullopt;
    a.rows.push_back(i);
  }
  // Each operand of the products comes from outside.
  for (const int product : {a.scores, a.values})
    for (int i = 0; i < static_cast<int>(dag.ops.size()); ++i)
      if (reads(op(product), op(i)) && !op(i).is_placeholder() && i != a.softmax) return std::nullopt;
  for (int i = a.values + 1; i < static_cast<int>(dag.ops.size()); ++i)
    if (op(i).output->shape != op(a.values).output->shape) return std::nullopt;
  return a;
}

struct AttentionShape {
  int64_t batch = 1, queries, keys, depth, width;  ///< depth: of the products of queries and keys; width: of a value
  int64_t key_lanes, width_lanes;
  int64_t width_vectors() const { return (width + width_lanes - 1) / width_lanes; }
};

AttentionShape attention_shape(const te::Dag& dag, const Attention& a, const Target& target) {
  const te::Op& scores = dag.ops[static_cast<size_t>(a.scores)];
  const std::vector<int64_t>&s = scores.output->shape, &out = dag.ops[static_cast<size_t>(a.values)].output->shape;
  AttentionShape r{1, s[s.size() - 2], s.back(), scores.reduce_axes[0].extent, out.back(), target.lanes(kFloat32), column_lanes(out.back(), target)};
  while (r.key_lanes >= 2 * r.keys) r.key_lanes /= 2;
  for (size_t d = 0; d + 2 < s.size(); ++d) r.batch *= s[d];
  return r;
}

bool attention_matches(const te::Dag& dag, const Target&) { return find_attention(dag).has_value(); }

ConfigSpace attention_space(const te::Dag& dag, const Target& target) {
  const AttentionShape s = attention_shape(dag, *find_attention(dag), target);
  ConfigSpace space;
  std::vector<std::vector<int64_t>> rows, keys, width;
  for (const int64_t r : {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16})
    if (r <= s.queries) rows.push_back({-1, r});
  for (const int64_t c : {1, 2, 3, 4, 5, 6, 8}) {
    if ((c - 1) * s.key_lanes < s.keys) keys.push_back({-1, c * s.key_lanes});
    if (s.width_vectors() % c == 0) width.push_back({-1, c * s.width_lanes});
  }
  space.define_split("tile_q", s.queries, {.num_outputs = 2, .policy = "candidate", .candidates = rows, .help = "queries that go through all stages together"});
  space.define_split("tile_k", s.keys,
                     {.num_outputs = 2, .policy = "candidate", .candidates = keys, .help = "keys of the scores' register tile, whole vectors"});
  space.define_split("tile_v", s.width,
                     {.num_outputs = 2, .policy = "candidate", .candidates = width, .help = "columns of the result's register tile, whole vectors"});
  space.define_knob("unroll_k", up_to({1, 2, 4}, std::min(s.depth, s.keys)), "steps of both reductions written out");
  const auto fits = [s, target](const ConfigEntity& e) {
    const int64_t q = e.split("tile_q")[1];
    return fits_registers(q, e.split("tile_k")[1] / s.key_lanes, target) && fits_registers(q, e.split("tile_v")[1] / s.width_lanes, target);
  };
  space.add_filter(fits, "a register tile does not fit the vector registers");
  return space;
}

ConfigEntity attention_fallback(const te::Dag& dag, const Target& target) {
  const AttentionShape s = attention_shape(dag, *find_attention(dag), target);
  return attention_space(dag, target).best_by([&](const ConfigEntity& e) {
    const int64_t q = e.split("tile_q")[1];
    // Both products do the same number of multiply-adds a query and key, depth and width being alike.
    const double scores = tile_rate(q, e.split("tile_k")[1] / s.key_lanes, target), values = tile_rate(q, e.split("tile_v")[1] / s.width_lanes, target);
    const double depth = static_cast<double>(s.depth), width = static_cast<double>(s.width);
    return (depth + width) / (depth / (scores * filled(s.keys, e.split("tile_k")[1])) + width / values) * filled(s.queries, q) *
               balanced(s.batch * ((s.queries + q - 1) / q), target) +
           (e.integer("unroll_k") == kWrittenTerms ? 2 : 0);
  });
}

/// The placeholder behind an operand of a product, the first or the second.
int operand(const te::Dag& dag, int product, size_t which) {
  std::vector<int> found;
  ir::walk(*dag.ops[static_cast<size_t>(product)].body, [&](const ir::Expr& e) {
    if (const auto* l = ir::as<ir::LoadNode>(e)) found.push_back(dag.op_of(l->buffer.get()));
  });
  return found[which];
}

/// [..., depth, keys] in panels of so many keys, each of them a stretch of memory.
std::vector<schedule::LayoutStep::Piece> panels(size_t rank, int64_t keys) {
  std::vector<schedule::LayoutStep::Piece> out;
  const auto last = static_cast<int>(rank) - 1;
  for (int d = 0; d + 1 < last; ++d) out.push_back({d, 0});
  out.insert(out.end(), {{last, 0}, {last - 1, 0}, {last, keys}});
  return out;
}

/// A product's registers: its two last axes before the reduction inside of it, written out.
void schedule_tile(schedule::Builder& b, int stage, int64_t lanes, int64_t written) {
  std::vector<ir::Var> loops = b.loops(stage);  // batch..., rows, columns, reduction
  const size_t rank = loops.size() - 1;
  const auto j = b.split(stage, loops[rank - 1], {lanes});
  std::vector<ir::Var> walk(loops.begin(), loops.begin() + static_cast<std::ptrdiff_t>(rank - 2));
  const auto k = write_out_terms(b, stage, loops[rank], written);
  walk.insert(walk.end(), k.begin(), k.end());
  walk.insert(walk.end(), {loops[rank - 2], j[0], j[1]});
  b.reorder(stage, walk);
  b.unroll(stage, loops[rank - 2]);
  b.unroll(stage, j[0]);
  b.vectorize(stage, j[1]);
}

/// What is computed out of a product's registers: panels of columns, rows times vectors written out. Returns the loop over the panels.
ir::Var schedule_panels(schedule::Builder& b, int stage, const std::vector<ir::Var>& outer, const ir::Var& rows, const ir::Var& columns, int64_t vectors,
                        int64_t lanes) {
  const auto n = b.split(stage, columns, {vectors, lanes});
  std::vector<ir::Var> order = outer;
  order.insert(order.end(), {n[0], rows, n[1], n[2]});
  b.reorder(stage, order);
  b.unroll(stage, rows);
  b.unroll(stage, n[1]);
  b.vectorize(stage, n[2]);
  return n[0];
}

Expected<schedule::Schedule> attention_apply(const te::DagPtr& dag, const Target& target, const ConfigEntity& e) {
  const Attention a = *find_attention(*dag);
  const AttentionShape s = attention_shape(*dag, a, target);
  const int64_t keys_block = e.split("tile_k")[1];
  schedule::Builder b(dag);
  const int keys_at = operand(*dag, a.scores, 1);
  b.layout(keys_at, panels(dag->ops[static_cast<size_t>(keys_at)].output->shape.size(), keys_block));
  for (int i = 0; i < b.num_stages(); ++i)
    if (!b.at(i).op.is_placeholder() && ((i < a.shown && i != a.scores) || (i > a.values && i != a.output))) b.compute_inline(i);
  // From the last stage to the first, so that indices of those before stay what they are.
  int out = a.output, values = a.values;
  if (out == values) out = (values = b.cache_write(values, "local")) + 1;
  int shown = a.shown, scores = a.scores, made = 0;
  if (shown == scores) {
    shown = (scores = b.cache_write(scores, "local")) + 1;
    made = 1;
  }
  out += made;
  values += made;

  std::vector<ir::Var> outer = b.loops(out);
  const ir::Var columns = outer.back(), queries = outer[outer.size() - 2];
  outer.erase(outer.end() - 2, outer.end());
  const auto m = b.split(out, queries, {e.split("tile_q")[1]});
  outer.push_back(m[0]);
  const ir::Var panel = schedule_panels(b, out, outer, m[1], columns, e.split("tile_v")[1] / s.width_lanes, s.width_lanes);
  const ir::Var block = outer.size() == 1 ? outer.front() : b.fuse(out, outer);
  b.parallel(out, block);
  b.compute_at(values, out, panel);
  if (e.split("tile_v")[1] > s.width) rules::whole_blocks(b, values, static_cast<int>(b.at(values).op.axes.size()) - 1, s.width_lanes);
  schedule_tile(b, values, s.width_lanes, e.integer("unroll_k"));

  // Rows an odd number of lines apart lie in different sets of the level-1 cache.
  const int64_t line = kCacheLine / kFloat32.bytes();
  const auto rank = static_cast<std::ptrdiff_t>(b.loops(shown).size());
  for (auto stage = a.rows.rbegin(); stage != a.rows.rend(); ++stage) {
    b.compute_at(*stage + made, out, block);
    rules::schedule_row(b, *stage + made, static_cast<size_t>(rank - 1), target, {});
  }
  b.compute_at(shown, out, block);
  rules::whole_blocks(b, shown, static_cast<int>(rank - 1), keys_block);
  const std::vector<ir::Var> loops = b.loops(shown);
  for (const int stage : {shown, a.softmax + made}) b.storage_align(stage, b.loops(stage)[static_cast<size_t>(rank - 2)], 2 * line, line);
  const ir::Var keys = schedule_panels(b, shown, std::vector<ir::Var>(loops.begin(), loops.end() - 2), loops[loops.size() - 2], loops.back(),
                                       e.split("tile_k")[1] / s.key_lanes, s.key_lanes);
  b.compute_at(scores, shown, keys);
  if (keys_block > s.keys) rules::whole_blocks(b, scores, static_cast<int>(rank - 1), s.key_lanes);  // under a mask a tile would not stay in registers
  schedule_tile(b, scores, s.key_lanes, e.integer("unroll_k"));
  return std::move(b).finish();
}

}  // namespace

Template attention() {
  return {
      "attention.cpu",
      attention_matches,
      attention_space,
      attention_apply,
      attention_fallback,
      "Attention in one kernel: for a few queries at a time the scores of all keys, their softmax and the product with the values, whose tiles of rows times "
      "whole vectors "
      "stay in registers. The scores of other queries never exist.",
      "Dao et al., FlashAttention: fast and memory-efficient exact attention with IO-awareness, NeurIPS 2022 (with whole rows of scores in cache instead of a "
      "running maximum); Goto and van de Geijn, ACM TOMS 2008 (tiles in registers)"};
}

}  // namespace tw::space::cpu
