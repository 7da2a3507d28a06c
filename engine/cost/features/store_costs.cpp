// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/store_costs.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "engine/cost/features/loop_touches.h"
#include "engine/schedule/loops.h"

namespace tw::cost {

namespace {

using schedule::Annotation;
using space::DigitSum;
using space::Evaluated;
using space::Program;

/// Bytes of a line, as both codes assume everywhere.
constexpr double kLine = 64;

/// Operations of one run of a statement, in the columns' order.
struct Operations {
  std::array<double, 7> floats{}, ints{};  ///< fused, additions, products, divisions, comparisons, functions, others
  double truths = 0, choices = 0;
};
enum Place : uint8_t { kFused, kAdd, kMul, kDiv, kCompare, kFunction };

void count(const ir::Expr& root, Operations& out) {
  if (const auto* load = ir::as<ir::LoadNode>(root); load != nullptr) return;  // its indices are counted as they are written
  if (const auto* b = ir::as<ir::BinaryNode>(root)) {
    auto& of_type = b->a->dtype.is_float() ? out.floats : out.ints;
    switch (b->op) {
      case ir::BinaryOp::add:
      case ir::BinaryOp::sub:
        ++of_type[kAdd];
        break;
      case ir::BinaryOp::mul:
        ++of_type[kMul];
        break;
      case ir::BinaryOp::div:
      case ir::BinaryOp::floor_div:
      case ir::BinaryOp::floor_mod:
        ++of_type[kDiv];
        break;
      case ir::BinaryOp::and_:
      case ir::BinaryOp::or_:
        ++out.truths;
        break;
      case ir::BinaryOp::bit_and:
      case ir::BinaryOp::bit_or:
      case ir::BinaryOp::bit_xor:
      case ir::BinaryOp::shl:
      case ir::BinaryOp::shr:
        ++of_type[kFunction];
        break;
      default:
        ++of_type[kCompare];
    }
  } else if (const auto* call = ir::as<ir::CallNode>(root)) {
    ++(call->args.front()->dtype.is_float() ? out.floats : out.ints)[kFunction];
  } else if (ir::as<ir::NotNode>(root)) {
    ++out.truths;
  } else if (ir::as<ir::SelectNode>(root)) {
    ++out.choices;
  }
  ir::for_each_child(root, [&](const ir::Expr& c) { count(c, out); });
}

/// One loop around a statement; where its init has copies of a stage's loops, they are others.
struct Around {
  int loop;
  bool of_init = false;
  friend auto operator<=>(const Around&, const Around&) = default;
};

/// Elements that one run of a loop touches of an array, by one statement.
struct TouchedArray {
  int array;
  double elements, bytes;  ///< bytes of an element
  bool read;
};

struct ArrayAccess {
  int array = -1;
  bool read = false, written = false;
  double element = 4;
  std::vector<int64_t> shape;
  std::vector<std::vector<DigitSum>> indices;  ///< of each access
  // By loop around the statement, outermost first.
  std::vector<char> moves;         ///< whether a step of it moves an access
  std::vector<double> elements;    ///< touched while it and those inside run and those outside stand at their first
  std::vector<int64_t> all;        ///< extents of what all loops together touch
};

struct Statement {
  int stage;
  bool init = false;
  std::vector<Around> loops;  ///< outermost first; those that run once are left out
  double runs = 1, placed = 1;  ///< of its loops; of those that its array is kept for
};

class Extractor {
 public:
  Extractor(const Program& p, const Evaluated& e, StoreDialect dialect) : p_(p), e_(e), dialect_(dialect), touched_(2 * p.loops().size()) {}

  FeatureRows rows() {
    for (size_t i = 0; i < p_.stages().size(); ++i)
      if (schedule::has_loops(p_.scheduled()[i]) && p_.stages()[i].at_loop < 0) visit(static_cast<int>(i), {}, 1);
    FeatureRows out{{}, rows_.size()};
    for (const auto& [stage, row] : rows_) out.values.insert(out.values.end(), row.begin(), row.end());
    return out;
  }

 private:
  const schedule::Stage& stage(int i) const { return p_.scheduled()[static_cast<size_t>(i)]; }
  const Program::Loop& loop(const Around& a) const { return p_.loops()[static_cast<size_t>(a.loop)]; }
  int64_t extent(const Around& a) const { return e_.loops[static_cast<size_t>(a.loop)]; }
  std::vector<TouchedArray>& touched(const Around& a) { return touched_[static_cast<size_t>(2 * a.loop + a.of_init)]; }

  /// The statements of a stage and of those in its loops, in the order in which they run.
  void visit(int i, std::vector<Around> around, double runs) {
    const Program::Stage& st = p_.stages()[static_cast<size_t>(i)];
    const bool reduces = stage(i).op.reducer != te::Reducer::none;
    const double placed = runs;
    bool begun = !reduces;
    for (int k = st.first_loop; k < st.first_loop + st.loops; ++k) {
      const Around own{k};
      if (!begun && loop(own).kind == te::AxisKind::reduce) {
        begin(i, k, around, runs, placed);
        begun = true;
      }
      if (extent(own) > 1) {
        around.push_back(own);
        runs *= static_cast<double>(extent(own));
      }
      for (size_t j = 0; j < p_.stages().size(); ++j)
        if (p_.stages()[j].at_loop == k) visit(static_cast<int>(j), around, runs);
    }
    if (!begun) begin(i, st.first_loop + st.loops, around, runs, placed);
    describe({i, false, std::move(around), runs, placed});
  }

  /// The statement before the reduction's loops, which begin at `first`.
  void begin(int i, int first, std::vector<Around> around, double runs, double placed) {
    const Program::Stage& st = p_.stages()[static_cast<size_t>(i)];
    for (int k = first; k < st.first_loop + st.loops; ++k) {
      const Around copy{k, true};
      if (loop(copy).kind == te::AxisKind::reduce || extent(copy) == 1) continue;
      around.push_back(copy);
      runs *= static_cast<double>(extent(copy));
    }
    describe({i, true, std::move(around), runs, placed});
  }

  std::vector<ArrayAccess> accesses(const Statement& s) const {
    std::vector<ArrayAccess> out;
    const auto of = [&](int array) -> ArrayAccess& {
      for (ArrayAccess& a : out)
        if (a.array == array) return a;
      const ir::Buffer& buffer = stage(array).op.output;
      out.push_back({.array = array, .element = static_cast<double>(buffer->dtype.bytes()), .shape = buffer->shape});
      return out.back();
    };
    const Program::Stage& st = p_.stages()[static_cast<size_t>(s.stage)];
    ArrayAccess& own = of(s.stage);
    own.written = true;
    own.read = !s.init && stage(s.stage).op.reducer != te::Reducer::none;
    const std::vector<DigitSum>& values = e_.stages[static_cast<size_t>(s.stage)].values;
    own.indices.emplace_back(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(st.spatial));
    for (const Program::Read& r : st.reads) {
      if (s.init) break;
      ArrayAccess& a = of(r.source);
      a.read = true;
      std::vector<DigitSum>& indices = a.indices.emplace_back();
      for (const Program::Index& index : r.indices) indices.push_back(index.over_loops(values));
    }
    for (ArrayAccess& a : out) touch(a, s.loops);
    return out;
  }

  /// What each loop touches of an array, from the innermost outwards.
  static void touch(ArrayAccess& a, const std::vector<Around>& loops) {
    struct Range {
      int64_t lo, hi;
    };
    std::vector<std::vector<Range>> ranges;  // by access and dimension
    for (const std::vector<DigitSum>& indices : a.indices) {
      auto& of_access = ranges.emplace_back();
      for (size_t d = 0; d < a.shape.size(); ++d) of_access.push_back({indices[d].constant, indices[d].constant + (indices[d].exact ? 0 : a.shape[d] - 1)});
    }
    const auto extents = [&] {
      for (size_t d = 0; d < a.shape.size(); ++d) {
        int64_t lo = ranges[0][d].lo, hi = ranges[0][d].hi;
        for (const auto& of_access : ranges) lo = std::min(lo, of_access[d].lo), hi = std::max(hi, of_access[d].hi);
        a.all[d] = hi - lo + 1;
      }
    };
    a.all.assign(a.shape.size(), 1);
    extents();
    a.moves.assign(loops.size(), 0);
    a.elements.assign(loops.size(), 1);
    for (size_t k = loops.size(); k-- > 0;) {
      for (size_t n = 0; n < a.indices.size(); ++n)
        for (size_t d = 0; d < a.shape.size(); ++d)
          for (const DigitSum::Term& t : a.indices[n][d].terms)
            if (t.digit.loop == loops[k].loop) {
              a.moves[k] = 1;
              const int64_t furthest = t.coeff * (t.digit.range - 1);
              if (a.indices[n][d].exact) (furthest > 0 ? ranges[n][d].hi : ranges[n][d].lo) += furthest;
            }
      if (a.moves[k]) extents();
      for (const int64_t n : a.all) a.elements[k] *= static_cast<double>(n);
    }
  }

  /// How far neighbours along each dimension lie apart.
  std::vector<double> strides(const ArrayAccess& a) const {
    std::vector<double> out(a.shape.size(), 1);
    double inside = 1;
    const auto& layout = stage(a.array).layout;
    if (layout.empty()) {
      for (size_t d = a.shape.size(); d-- > 0; inside *= static_cast<double>(a.shape[d])) out[d] = inside;
      return out;
    }
    std::vector<double> pieces(a.shape.size(), 1);  // of what is further inside
    for (size_t k = layout.size(); k-- > 0;) {
      const auto d = static_cast<size_t>(layout[k].dim);
      if (pieces[d] == 1) out[d] = inside;
      const double n = layout[k].factor > 0 ? static_cast<double>(layout[k].factor) : std::ceil(static_cast<double>(a.shape[d]) / pieces[d]);
      pieces[d] *= n;
      inside *= n;
    }
    return out;
  }

  /// Elements that a step of the loop moves an access, at least.
  double stride(const ArrayAccess& a, int loop) const {
    const std::vector<double> apart = strides(a);
    double least = std::numeric_limits<double>::max();
    for (const std::vector<DigitSum>& indices : a.indices)
      for (size_t d = 0; d < a.shape.size(); ++d)
        for (const DigitSum::Term& t : indices[d].terms) {
          // Of a digit both codes do not know how far a step moves it.
          const double steps = t.digit.div > 1 || t.digit.mod > 0 ? 2 : std::abs(static_cast<double>(t.coeff));
          if (t.digit.loop == loop) least = std::min(least, steps * apart[d]);
        }
    return least;
  }

  struct Reuse {
    int kind = 2;  ///< in a loop that moves nothing, by another statement, none
    double iterations = 0, bytes = 0, times = 0;
  };

  double bytes_in(const Around& l, bool reads_only) {
    double n = 0;
    for (const TouchedArray& t : touched(l))
      if (!reads_only || t.read) n += t.elements * t.bytes;
    return n;
  }

  Reuse reuse_of(const ArrayAccess& a, const std::vector<Around>& loops) {
    double iterations = 1, bytes = -1;
    for (size_t k = loops.size(); k-- > 0;) {
      const double n = static_cast<double>(extent(loops[k]));
      if (!a.moves[k]) {
        if (bytes < 0) {
          bytes = 0;
          for (const TouchedArray& t : touched(loops[k])) bytes += t.bytes;
        }
        double times = n;
        if (dialect_ == StoreDialect::tenset)
          for (size_t outer = k; outer-- > 0 && !a.moves[outer];) times *= static_cast<double>(extent(loops[outer]));
        return {0, iterations, bytes, times};
      }
      iterations *= n;
      bytes = bytes_in(loops[k], false);
      double entries = 0, least = std::numeric_limits<double>::max();
      for (const TouchedArray& t : touched(loops[k]))
        if (t.array == a.array) ++entries, least = std::min(least, t.elements);
      if (entries < 2) continue;
      double times = entries - 1;
      if (dialect_ == StoreDialect::tenset) {
        times = 1;
        for (size_t outer = 0; outer <= k; ++outer) times *= static_cast<double>(extent(loops[outer]));
      }
      return {1, least / n, bytes_in(loops[k], dialect_ == StoreDialect::tenset) / n, times};
    }
    return {};
  }

  /// One array's 18 numbers, with what they are ordered by.
  struct Block {
    std::array<float, kAnsorArrayColumns> columns{};
    std::array<double, 4> order{};
  };

  Block block(const Statement& s, const ArrayAccess& a) {
    const double bytes = s.runs * a.element, unique = (s.loops.empty() ? 1 : a.elements.front()) * a.element;
    double step = 0, reported = 0, skipped = 1;
    for (size_t k = s.loops.size(); k-- > 0;) {
      if (a.moves[k]) {
        step = stride(a, s.loops[k].loop);
        reported = k + 1 == s.loops.size() ? step : 0;
        break;
      }
      skipped *= static_cast<double>(extent(s.loops.back()));  // as both codes have it
    }
    const double lines = std::max(1.0, s.runs / skipped * std::min(1.0, step * a.element / kLine));
    double run = a.element;
    for (size_t d = a.all.size(); d-- > 0;)
      if (a.all[d] >= a.shape[d]) {
        run *= static_cast<double>(a.shape[d]);
        break;
      }
    const double unique_lines = std::max(1.0, unique / std::min(run, kLine));
    const Reuse reuse = reuse_of(a, s.loops);
    const auto each = [&](double x) { return log_scaled(reuse.times > 0.5 ? x / reuse.times : 2 * x); };
    const size_t access = a.read && a.written ? 2 : a.written ? 1 : 0;
    Block out;
    out.columns[access] = 1;
    out.columns[3] = log_scaled(bytes);
    out.columns[4] = log_scaled(unique);
    out.columns[5] = log_scaled(lines);
    out.columns[6] = log_scaled(unique_lines);
    out.columns[7 + static_cast<size_t>(reuse.kind)] = 1;
    out.columns[10] = log_scaled(reuse.iterations);
    out.columns[11] = log_scaled(reuse.bytes);
    out.columns[12] = log_scaled(reuse.times);
    out.columns[13] = each(bytes);
    out.columns[14] = each(unique);
    out.columns[15] = each(lines);
    out.columns[16] = each(unique_lines);
    out.columns[17] = log_scaled(reported);
    out.order = dialect_ == StoreDialect::tvm ? std::array<double, 4>{-lines, -bytes, 0, 0}
                                              : std::array<double, 4>{reuse.bytes, unique, unique_lines, static_cast<double>(access)};
    return out;
  }

  /// Number, product, innermost length and place of the loops with one of two marks.
  void put_marks(const Statement& s, Annotation a, Annotation b, float* out) {
    double number = 0, product = 1, innermost = 0;
    for (const Around& l : s.loops)
      if (loop(l).annotation == a || loop(l).annotation == b) ++number, product *= static_cast<double>(extent(l)), innermost = static_cast<double>(extent(l));
    out[0] = log_scaled(number);
    out[1] = log_scaled(number > 0 ? product : 0);
    out[2] = log_scaled(innermost);
    out[number > 0 ? 10 : 3] = 1;  // a mixed place, or none
  }

  void put_threads(const Statement& s, float* out) {
    static constexpr Annotation kBound[] = {Annotation::block_x, Annotation::block_y, Annotation::block_z, Annotation::thread_x, Annotation::thread_y, Annotation::thread_z};
    std::array<double, 7> extents;
    extents.fill(1);
    bool bound = false;
    for (const Around& l : s.loops) {
      bound = bound || schedule::is_binding(loop(l).annotation);
      for (size_t k = 0; k < std::size(kBound); ++k)
        if (loop(l).annotation == kBound[k]) extents[k] = static_cast<double>(extent(l));
      if (loop(l).annotation == Annotation::vthread) extents[6] *= static_cast<double>(extent(l));
    }
    out[0] = bound ? 1 : 0;
    for (size_t k = 0; k < extents.size(); ++k) out[1 + k] = log_scaled(extents[k]);
  }

  /// Of what is touched and computed in each loop: bytes, and operations on floats, as logarithms; then samples between them.
  void put_intensity(const Statement& s, const std::vector<ArrayAccess>& arrays, double floats, float* out) const {
    if (floats <= 0 || s.loops.empty()) return;
    std::vector<double> computed, intensity;
    double operations = floats;
    for (size_t k = s.loops.size(); k-- > 0;) {
      operations *= static_cast<double>(extent(s.loops[k]));
      double bytes = 0;
      for (const ArrayAccess& a : arrays) bytes += a.elements[k] * a.element;
      computed.push_back(std::log2(operations));
      intensity.push_back(std::log2(operations) / std::log2(bytes));
    }
    size_t at = 0;
    for (size_t k = 0; k < kAnsorCurveSamples; ++k) {
      const double x = computed.back() * static_cast<double>(k + 1) / static_cast<double>(kAnsorCurveSamples);
      while (at + 1 < computed.size() && computed[at] < x - 1e-4) ++at;
      const double slope = at == 0 ? 0 : (intensity[at] - intensity[at - 1]) / (computed[at] - computed[at - 1]);
      out[k] = static_cast<float>(at == 0 ? intensity[0] : intensity[at - 1] + slope * (x - computed[at - 1]));
    }
  }

  /// What lowering writes for an index.
  static void count_index(const DigitSum& index, Operations& out) {
    const double parts = static_cast<double>(index.terms.size()) + (index.constant != 0);
    out.ints[kAdd] += std::max(0.0, parts - 1);
    for (const DigitSum::Term& t : index.terms) {
      out.ints[kMul] += t.coeff != 1;
      out.ints[kDiv] += (t.digit.div > 1) + (t.digit.mod > 0);
    }
  }

  double unroll(int i) const {
    const int64_t own = e_.unroll[static_cast<size_t>(i)];
    const int at = p_.stages()[static_cast<size_t>(i)].at_loop;
    return own >= 0 ? static_cast<double>(own) : at < 0 ? 0 : unroll(p_.loops()[static_cast<size_t>(at)].stage);
  }

  void describe(const Statement& s) {
    const std::vector<ArrayAccess> arrays = accesses(s);
    for (size_t k = 0; k < s.loops.size(); ++k)
      for (const ArrayAccess& a : arrays) touched(s.loops[k]).push_back({a.array, a.elements[k], a.element, a.read});
    if (s.init) return;  // the sums that follow have the array's row

    Operations ops;
    const te::Op& op = stage(s.stage).op;
    count(*op.body, ops);
    if (op.reducer != te::Reducer::none) ++(op.output->dtype.is_float() ? ops.floats : ops.ints)[op.reducer == te::Reducer::sum ? kAdd : op.reducer == te::Reducer::prod ? kMul : kCompare];
    for (const ArrayAccess& a : arrays)
      for (size_t k = 0; k < a.indices.size(); ++k)
        if (k > 0 || !a.written || a.read)  // but where it only stores
          for (const DigitSum& index : a.indices[k]) count_index(index, ops);
    double floats = 0;
    std::vector<float>& row = rows_[s.stage];
    row.assign(kAnsorColumns, 0);
    for (size_t k = 0; k < 7; ++k) {
      row[k] = log_scaled(s.runs * ops.floats[k]);
      row[7 + k] = log_scaled(s.runs * ops.ints[k]);
      floats += ops.floats[k];
    }
    row[14] = log_scaled(s.runs * ops.truths);
    row[15] = log_scaled(s.runs * ops.choices);
    put_marks(s, Annotation::vectorize, Annotation::vectorize, &row[16]);
    put_marks(s, Annotation::unroll, Annotation::unroll_explicit, &row[27]);
    put_marks(s, Annotation::parallel, Annotation::parallel, &row[38]);
    put_threads(s, &row[49]);

    std::vector<Block> blocks;
    for (const ArrayAccess& a : arrays) blocks.push_back(block(s, a));
    std::stable_sort(blocks.begin(), blocks.end(), [](const Block& a, const Block& b) { return a.order < b.order; });
    for (size_t k = 0; k < std::min(blocks.size(), kAnsorArrays); ++k)
      std::copy(blocks[k].columns.begin(), blocks[k].columns.end(), row.begin() + static_cast<std::ptrdiff_t>(kAnsorFirstArray + k * kAnsorArrayColumns));
    put_intensity(s, arrays, floats, &row[kAnsorCurve]);

    if (!p_.is_output(s.stage)) {
      const Evaluated::Stage& own = e_.stages[static_cast<size_t>(s.stage)];
      const double bytes = static_cast<double>(own.bytes);
      row[157] = log_scaled(bytes);
      row[158] = log_scaled(bytes / arrays.front().element * s.placed);
      row[159] = log_scaled(s.placed);
      row[160] = log_scaled(s.runs / s.placed);
    }
    row[161] = log_scaled(s.runs);
    row[162] = log_scaled(static_cast<double>(s.loops.size()));
    row[163] = log_scaled(unroll(s.stage));
  }

  const Program& p_;
  const Evaluated& e_;
  StoreDialect dialect_;
  std::vector<std::vector<TouchedArray>> touched_;  ///< by loop, then that of an init
  std::map<int, std::vector<float>> rows_;          ///< by stage
};

Expected<FeatureRows> features_of(const FeatureInput& input, StoreDialect dialect) {
  TW_TRY(const schedule::Schedule s, input.schedule());
  TW_TRY(const space::Program program, space::Program::make(input.dag, s.steps()));
  const lower::LoopExtents extents(s);
  if (!extents.ok()) return Error(ErrorCode::illegal_schedule, "Expected a schedule that can be lowered, found one that a later step made illegal");
  TW_TRY(const Evaluated e, program.evaluate(space::numbers_of(s.steps()), &extents));
  TW_CHECK(program.check(e, input.target));
  return store_costs(program, e, dialect);
}

}  // namespace

FeatureRows store_costs(const Program& program, const Evaluated& e, StoreDialect dialect) { return Extractor(program, e, dialect).rows(); }

Expected<FeatureRows> ansor_features(const FeatureInput& input) { return features_of(input, StoreDialect::tvm); }
Expected<FeatureRows> tenset_features(const FeatureInput& input) { return features_of(input, StoreDialect::tenset); }

FeatureRows ansor_program(const Program& program, const Evaluated& e) { return store_costs(program, e, StoreDialect::tvm); }
FeatureRows tenset_program(const Program& program, const Evaluated& e) { return store_costs(program, e, StoreDialect::tenset); }

}  // namespace tw::cost
