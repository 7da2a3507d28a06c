// SPDX-License-Identifier: Apache-2.0
#include "engine/space/templates/cpu/blocked.h"

#include <algorithm>
#include <numeric>

#include "engine/base/json.h"
#include "engine/ir/visit.h"
#include "engine/space/rules/rules.h"
#include "engine/target/cpu_table.h"

namespace tw::space::cpu {

using schedule::Builder;
using schedule::LayoutStep;

namespace {

/// Channels that images come and go with, in planes: blocks of them would have to be made first.
constexpr int64_t kPlanes = 3;
/// Places of a convolution's result that each of its weights is multiplied for, from which laying out computed weights is a small part of the work.
constexpr int64_t kWorthLayingOut = 16;

/// Buffers read by an op, in order of appearance.
std::vector<const ir::BufferNode*> reads_of(const te::Op& op) {
  std::vector<const ir::BufferNode*> out;
  ir::walk(*op.body, [&](const ir::Expr& e) {
    const auto* l = ir::as<ir::LoadNode>(e);
    if (l && std::find(out.begin(), out.end(), l->buffer.get()) == out.end()) out.push_back(l->buffer.get());
  });
  return out;
}

/// The dimension of an operand that its readers walk by their channels, their second axis; -1 if there is none or they differ.
int channel_dimension(const te::Dag& dag, const te::Op& operand) {
  int found = -1;
  bool one = true;
  for (const te::Op& reader : dag.ops) {
    if (!reader.body) continue;
    ir::walk(*reader.body, [&](const ir::Expr& e) {
      const auto* l = ir::as<ir::LoadNode>(e);
      if (!l || !l->buffer.same_as(operand.output)) return;
      int here = -1;
      for (size_t d = 0; d < l->indices.size(); ++d)
        if (l->indices[d].get() == reader.axes[1].var.get()) here = static_cast<int>(d);
      one = one && here >= 0 && (found < 0 || found == here);
      found = here;
    });
  }
  return one ? found : -1;
}

/// Channels whose lines, each elsewhere in memory, processors foresee at once: of an image that no cache keeps, 64 of them took 9 to 13 ms instead of 6.4 in
/// blocks, 16 of a volume 3.5 instead of 8.6 (one thread of a Zen 5).
constexpr int64_t kForeseen = 32;

/// Multiply-adds of a register tile in places of those, by the latency that its accumulators hide and the loads that it needs. Tiles that just hide the latency wait
/// when a load is late: measured on a Zen 3 (8 in flight) with 128 rows, 8 accumulators take 1.04 (768 terms) to 1.16 (2,048) times as long as 12, and 10 1.04 to 1.08.
double flow(int64_t rows, int64_t columns, const Target& target, int64_t pieces) {
  constexpr double kSlack = 1.5, kLate = 0.3;
  const target::Pipes pipes = target::pipes_of(target.cpu);
  const auto work = static_cast<double>(rows * columns), in_flight = static_cast<double>(pipes.in_flight());
  const double loads = static_cast<double>(rows * pieces + columns) * pipes.fmas / pipes.loads;
  return work / (std::max({work + static_cast<double>(rows * (pieces - 1)), loads, in_flight}) + kLate * std::max(0.0, kSlack * in_flight - work));
}

}  // namespace

std::optional<Anchor> find_anchor(const te::Dag& dag, std::string_view tag, te::Role role, DType type, bool turned) {
  Anchor a;
  if (dag.outputs.size() != 1) return std::nullopt;
  a.output = dag.outputs.front();
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    if (dag.ops[i].tag != tag) continue;
    if (a.reduce >= 0) return std::nullopt;
    a.reduce = static_cast<int>(i);
  }
  if (a.reduce < 0) return std::nullopt;
  const te::Op& reduce = dag.ops[static_cast<size_t>(a.reduce)];
  const auto reads = reads_of(reduce);
  if (reads.size() != 2 || reduce.output->dtype != type) return std::nullopt;
  a.data = dag.op_of(reads[0]);
  a.weight = dag.op_of(reads[1]);
  if (dag.ops[static_cast<size_t>(a.data)].tag == "pad") {
    a.pad = a.data;
    const auto source = reads_of(dag.ops[static_cast<size_t>(a.pad)]);
    if (source.size() != 1) return std::nullopt;
    a.data = dag.op_of(source[0]);
  }
  if (turned) {
    a.turned = a.weight;
    const te::Op& moves = dag.ops[static_cast<size_t>(a.turned)];
    const auto source = reads_of(moves);
    if (moves.is_placeholder() || moves.reducer != te::Reducer::none || source.size() != 1 || dag.consumers(a.turned).size() != 1) return std::nullopt;
    a.weight = dag.op_of(source[0]);
  }
  const te::Op &data = dag.ops[static_cast<size_t>(a.data)], &weight = dag.ops[static_cast<size_t>(a.weight)];
  if (!data.is_placeholder() || !weight.is_placeholder() || weight.role != role) return std::nullopt;
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    const te::Op& op = dag.ops[i];
    if (op.is_placeholder() || static_cast<int>(i) == a.reduce || static_cast<int>(i) == a.pad || static_cast<int>(i) == a.turned) continue;
    if (static_cast<int>(i) < a.reduce || op.reducer != te::Reducer::none || op.output->shape != reduce.output->shape) return std::nullopt;
    for (const ir::BufferNode* read : reads_of(op)) {
      if (read == weight.output.get() || (a.pad >= 0 && read == dag.ops[static_cast<size_t>(a.pad)].output.get())) return std::nullopt;
      if (read == data.output.get() && data.output->shape != reduce.output->shape) return std::nullopt;
    }
  }
  const bool by_itself = a.turned >= 0 && a.weight == a.data;  // a product of rows with each other
  return dag.consumers(a.weight).size() == (by_itself ? 2 : 1) ? std::optional(a) : std::nullopt;
}

std::optional<Anchor> find_conv_anchor(const te::Dag& dag, std::string_view tag) {
  if (const auto a = find_anchor(dag, tag)) return a;
  const auto a = find_anchor(dag, tag, te::Role::activation);
  if (!a) return std::nullopt;
  const te::Op& op = dag.ops[static_cast<size_t>(a->reduce)];
  return op.output->num_elements() >= kWorthLayingOut * op.output->shape[1] ? a : std::nullopt;
}

int64_t dividing_lanes(int64_t extent, const Target& target, DType type) {
  int64_t lanes = target.lanes(type);
  while (extent % lanes != 0) lanes /= 2;
  return lanes;
}

int64_t column_lanes(int64_t n, const Target& target, DType type) {
  const int64_t full = target.lanes(type), dividing = dividing_lanes(n, target, type);
  return static_cast<double>(full) * filled(n, full) > static_cast<double>(dividing) ? full : dividing;
}

int64_t channel_block(int64_t channels, const Target& target) {
  if (channels <= kPlanes) return dividing_lanes(channels, target);
  const int64_t lanes = target.lanes(kFloat32);
  int64_t block = lanes;
  while (4 * block > lanes && channels <= block / 2) block /= 2;
  return block;
}

/// 0.87 of what their tile allows, over 20 to 124 channels in 2 to 12 groups and images of 14 to 56 on a Zen 5 with AVX-512 (0.73 to 1.02); llvm-mca's model of
/// a Sapphire Rapids says 0.88 of the full rate for tiles of 10 and of 12 lines. With strides the vectors lie far apart: 0.55 to 0.75 on the Zen 5.
double rate_in_lines(const te::Dag& dag, const Anchor& a, int64_t outputs, const Target& target) {
  const te::Op& op = dag.ops[static_cast<size_t>(a.reduce)];
  const int64_t columns = op.output->shape.back();
  const auto strides = op.attrs.find("strides");
  const bool strided = strides != op.attrs.end() && std::any_of(strides->second.begin(), strides->second.end(), [](int64_t by) { return by > 1; });
  const rules::LineTile tile =
      outputs < op.output->shape[1] ? rules::line_tile(columns, outputs, kFloat32, target) : rules::shared_tile(columns, outputs, kFloat32, target);
  const int64_t lanes = blocks_for(columns, tile.lanes) * target.lanes(kFloat32);
  // Of one output each multiply-add reads a vector, of as many lines as hide its latency; beside the middle of a window it lies in two cache lines.
  const bool window = std::any_of(op.reduce_axes.begin() + 1, op.reduce_axes.end(), [](const te::Axis& r) { return r.extent > 1; });
  const int64_t hiding = target::pipes_of(target.cpu).in_flight();
  const double of_tile = op.output->shape[1] > 1 ? flow(tile.height, tile.vectors, target, 1) : flow(1, hiding, target, 1) / (window ? 2 : 1);
  return (strided ? 0.58 : 0.87) * static_cast<double>(columns) / static_cast<double>(lanes) * of_tile;
}

bool suits_lines(const te::Dag& dag, const Anchor& a, const Target& target) {
  const te::Op& data = dag.ops[static_cast<size_t>(a.data)];
  return dag.ops[static_cast<size_t>(a.reduce)].output->shape.back() >= target.lanes(kFloat32) &&
         (data.output->bytes() <= target.kept_bytes() || data.output->shape[1] <= kForeseen);
}

double register_share(int64_t lanes, const Target& target) {
  const double share = static_cast<double>(lanes) / static_cast<double>(target.lanes(kFloat32));
  return std::min(1.0, share * (target::pipes_of(target.cpu).halves ? 2 : 1));
}

std::vector<LayoutStep::Piece> nchwc(int64_t block, size_t spatial) {
  std::vector<LayoutStep::Piece> out;
  if (block == 1) return out;
  for (size_t d = 0; d < spatial + 2; ++d) out.push_back({static_cast<int>(d), 0});
  out.push_back({1, block});
  return out;
}

bool fits_registers(int64_t rows, int64_t columns, const Target& target) { return rows * columns + columns + (columns > 1 ? 1 : 0) <= target.vector_registers; }

int64_t lines_for_rows(int64_t row_bytes, const Target& target) {
  const int64_t span = target.l1d_bytes / target.l1d_ways;
  return target.l1d_ways * (span / std::max(kCacheLine, std::gcd(row_bytes, span)));
}

double tile_rate(int64_t rows, int64_t columns, const Target& target, int64_t pieces) {
  // Vectors of weights come from the level-2 cache: each should serve several rows. Broadcasts are cheaper.
  const double lost = 0.25 / static_cast<double>(rows) + 0.05 / static_cast<double>(columns);
  const double rate = flow(rows, columns, target, pieces);
  return std::max(rate - lost, 0.01 * rate);  // of the slowest tiles, too, something is left
}

double filled(int64_t extent, int64_t tile) { return static_cast<double>(extent) / static_cast<double>((extent + tile - 1) / tile * tile); }

double balanced(int64_t tasks, const Target& target) { return filled(tasks, std::max(1, target.cores)); }

std::vector<ir::Var> write_out_terms(Builder& b, int stage, const ir::Var& terms, int64_t count) {
  if (count == 1) return {terms};
  const auto loops = b.split(stage, terms, {count});
  b.unroll(stage, loops[1]);
  return loops;
}

std::vector<Json> up_to(const std::vector<int64_t>& candidates, int64_t limit) {
  std::vector<Json> out;
  for (const int64_t c : candidates)
    if (c <= limit) out.emplace_back(c);
  if (out.empty()) out.emplace_back(int64_t{1});
  return out;
}

std::vector<Json> dividing(const std::vector<int64_t>& candidates, int64_t n) {
  std::vector<Json> out;
  for (const int64_t c : candidates)
    if (n % c == 0) out.emplace_back(c);
  if (out.empty()) out.emplace_back(int64_t{1});
  return out;
}

std::vector<Json> panel_widths(const std::vector<int64_t>& candidates, int64_t n) {
  constexpr int64_t kNarrow = 2;     // a register tile of so few vectors waits for its broadcasts
  constexpr double kWorthIt = 0.85;  // of the panels' vectors, at least, that there are results for
  std::vector<Json> out = dividing(candidates, n);
  if (out.back().get<int64_t>() > kNarrow || n <= kNarrow) return out;
  for (const int64_t c : candidates)
    if (n % c != 0 && c < n && filled(n, c) >= kWorthIt) out.emplace_back(c);
  return out;
}

std::vector<std::vector<int64_t>> whole_strides(int64_t columns, int64_t stride, int64_t most, const std::function<bool(int64_t)>& fits) {
  std::vector<std::vector<int64_t>> out;
  for (const int64_t t : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14})
    if (t * stride <= std::min(columns, most)) out.push_back({-1, t * stride});
  if (std::any_of(out.begin(), out.end(), [&](const std::vector<int64_t>& t) { return fits(t[1]); })) return out;
  out.clear();
  for (int64_t t = 1; t < stride; ++t)
    if (stride % t == 0 && t <= columns && fits(t)) out.push_back({-1, t});
  return out;
}

void Line::define(ConfigSpace& space) const {
  space.define_knob("line_pieces", up_to({1, 2, 4, 8, 16, 32, 64}, columns),
                    "pieces of the line that cores share, and that all panels of weights meet while the cache has them");
  space.add_filter(
      [columns = columns](const ConfigEntity& e) { return e.integer("line_pieces") == 1 || e.integer("line_pieces") * e.split("tile_ow")[1] <= columns; },
      "a piece of the line is less than a register tile");
}

double Line::kept(int64_t pieces, bool outside, int64_t panels, const Target& target) const {
  const int64_t holds = target.l2_bytes / 2;
  const bool data_stays = (outside ? data_bytes / pieces : data_bytes) <= holds, weights_stay = !outside || pieces == 1 || weight_bytes <= holds;
  const int64_t moved = data_bytes * (data_stays ? 1 : panels) + weight_bytes * (weights_stay ? 1 : pieces);
  return static_cast<double>(data_bytes + weight_bytes) / static_cast<double>(moved) - 0.0001 * static_cast<double>(pieces);
}

std::pair<std::vector<ir::Var>, ir::Var> Line::cut(schedule::Builder& b, int stage, const ir::Var& tiles, int64_t tile, const ConfigEntity& e) const {
  const int64_t pieces = e.integer("line_pieces");
  if (pieces == 1) return {{}, tiles};
  const auto parts = b.split(stage, tiles, {blocks_for(blocks_for(columns, tile), pieces)});
  return {{parts[0]}, parts[1]};
}

std::optional<Line> line_of(const te::Dag& dag, const Anchor& a) {
  const auto array = [&](int op) { return dag.ops[static_cast<size_t>(op)].output; };
  const std::vector<int64_t>& out = array(a.reduce)->shape;
  return out.size() == 3 ? std::optional(Line{out[2], array(a.data)->bytes() / out[0], array(a.weight)->bytes()}) : std::nullopt;
}

void layout_epilogue(Builder& b, const te::Dag& dag, const Anchor& a, const std::vector<LayoutStep::Piece>& layout) {
  if (layout.empty()) return;
  const std::vector<int64_t>& shape = dag.ops[static_cast<size_t>(a.reduce)].output->shape;
  const int64_t block = std::max<int64_t>(1, layout.back().factor);
  for (size_t i = 0; i < dag.ops.size(); ++i) {
    const te::Op& op = dag.ops[i];
    const bool residual = op.is_placeholder() && op.role == te::Role::activation && static_cast<int>(i) != a.data && op.output->shape == shape;
    if (residual || static_cast<int>(i) == a.output) b.layout(static_cast<int>(i), layout);
    if (residual || !op.is_placeholder() || static_cast<int>(i) == a.data || static_cast<int>(i) == a.weight || shape[1] % block == 0) continue;
    if (const int d = channel_dimension(dag, op); d >= 0) {
      std::vector<LayoutStep::Piece> pieces;
      for (size_t k = 0; k < op.output->shape.size(); ++k) pieces.push_back({static_cast<int>(k), 0});
      pieces.push_back({d, block});
      b.layout(static_cast<int>(i), pieces);
    }
  }
}

void inline_epilogue(Builder& b, const Anchor& a) {
  for (int i = a.reduce + 1; i < b.num_stages(); ++i)
    if (!b.at(i).op.is_placeholder() && i != a.output) b.compute_inline(i);
}

int accumulator_stage(Builder& b, const Anchor& a, int& output) {
  output = a.output;
  if (a.output != a.reduce) return a.reduce;
  const int cache = b.cache_write(a.reduce, "local");
  output = cache + 1;
  return cache;
}

const te::WindowLine* line_from(const std::vector<te::WindowLine>& window, size_t spatial, size_t from_last) {
  const auto of = std::find_if(window.begin(), window.end(), [&](const te::WindowLine& l) { return l.dimension + from_last == spatial + 1; });
  return of == window.end() ? nullptr : &*of;
}

bool knows_padding(const te::WindowLine* line, int64_t columns, int64_t tile) {
  const int64_t last = (columns - 1) % tile + 1;
  return !line || (line->taps <= kMostWrittenTaps && blocks_for(line->before, line->stride) <= tile && blocks_for(line->after(), line->stride) <= last);
}

void schedule_padding(Builder& b, int pad, int64_t block, const Target& target) {
  if (pad < 0) return;
  std::vector<ir::Var> order = b.loops(pad);  // n, c, spatial...
  const auto outer = static_cast<std::ptrdiff_t>(order.size()) - 1;
  if (block > 1) {
    b.layout(pad, nchwc(block, order.size() - 2));
    const int64_t v = rules::divisor_up_to(block, target.lanes(kFloat32));
    const auto c = b.split(pad, order[1], {block / v, v});
    order[1] = c[0];
    order.insert(order.end(), {c[1], c[2]});
    b.reorder(pad, order);
    b.vectorize(pad, c[2]);
  } else {
    b.vectorize(pad, b.split(pad, order.back(), {target.lanes(kFloat32)})[1]);
  }
  b.parallel(pad, b.fuse(pad, {order.begin(), order.begin() + outer}));
}

}  // namespace tw::space::cpu
