// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/store_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>

#include "engine/cost/features/loop_touches.h"
#include "engine/cost/features/statements.h"
#include "engine/schedule/loops.h"

namespace tw::cost {

namespace {

using schedule::Annotation;
using space::DigitSum;
using space::Evaluated;
using space::Program;

/// Bytes of a line, as both codes assume everywhere.
constexpr double kLine = 64;

/// Elements that one run of a loop touches of an array, by one statement.
struct TouchedArray {
  int array;
  double elements, bytes;  ///< bytes of an element
  bool read;
};

/// With what each loop touches of it.
struct TouchedAccess : ArrayAccess {
  double element = 4;
  std::vector<int64_t> shape;
  // By loop around the statement, outermost first.
  std::vector<char> moves;       ///< whether a step of it moves an access
  std::vector<double> elements;  ///< touched while it and those inside run and those outside stand at their first
  std::vector<int64_t> all;      ///< extents of what all loops together touch
};

class Extractor {
 public:
  Extractor(const Program& p, const Evaluated& e, StoreDialect dialect) : p_(p), e_(e), dialect_(dialect), touched_(2 * p.loops().size()) {}

  FeatureRows rows() {
    for (const Statement& s : statements_of(p_, e_)) describe(s);
    FeatureRows out{{}, rows_.size()};
    for (const auto& [stage, row] : rows_) out.values.insert(out.values.end(), row.begin(), row.end());
    return out;
  }
  /// Kept from rows() if asked for before.
  void keep_steps() { keeps_steps_ = true; }
  std::vector<ArrayStep> steps() && { return std::move(steps_); }

 private:
  const schedule::Stage& stage(int i) const { return p_.scheduled()[static_cast<size_t>(i)]; }
  const Program::Loop& loop(const Around& a) const { return p_.loops()[static_cast<size_t>(a.loop)]; }
  int64_t extent(const Around& a) const { return e_.loops[static_cast<size_t>(a.loop)]; }
  std::vector<TouchedArray>& touched(const Around& a) { return touched_[static_cast<size_t>(2 * a.loop + a.of_init)]; }

  std::vector<TouchedAccess> accesses(const Statement& s) const {
    std::vector<TouchedAccess> out;
    for (ArrayAccess& access : accesses_of(s, p_, e_)) {
      const ir::Buffer& buffer = stage(access.array).op.output;
      TouchedAccess& a = out.emplace_back(TouchedAccess{std::move(access), static_cast<double>(buffer->dtype.bytes()), buffer->shape, {}, {}, {}});
      touch(a, s.loops);
    }
    return out;
  }

  /// What each loop touches of an array, from the innermost outwards.
  static void touch(TouchedAccess& a, const std::vector<Around>& loops) {
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

  /// Elements that a step of the loop moves an access, at least.
  double stride(const TouchedAccess& a, int loop) const {
    const std::vector<double> apart = neighbour_distances(p_, a.array);
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

  Reuse reuse_of(const TouchedAccess& a, const std::vector<Around>& loops) {
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

  Block block(const Statement& s, const TouchedAccess& a) {
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
  void put_intensity(const Statement& s, const std::vector<TouchedAccess>& arrays, double floats, float* out) const {
    if (floats <= 0 || s.loops.empty()) return;
    std::vector<double> computed, intensity;
    double operations = floats;
    for (size_t k = s.loops.size(); k-- > 0;) {
      operations *= static_cast<double>(extent(s.loops[k]));
      double bytes = 0;
      for (const TouchedAccess& a : arrays) bytes += a.elements[k] * a.element;
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
    out.ints[Operations::kAdd] += std::max(0.0, parts - 1);
    for (const DigitSum::Term& t : index.terms) {
      out.ints[Operations::kMul] += t.coeff != 1;
      out.ints[Operations::kDiv] += (t.digit.div > 1) + (t.digit.mod > 0);
    }
  }

  double unroll(int i) const {
    const int64_t own = e_.unroll[static_cast<size_t>(i)];
    const int at = p_.stages()[static_cast<size_t>(i)].at_loop;
    return own >= 0 ? static_cast<double>(own) : at < 0 ? 0 : unroll(p_.loops()[static_cast<size_t>(at)].stage);
  }

  void add_steps(const Statement& s, const Operations& ops, const std::vector<TouchedAccess>& arrays, const std::vector<Block>& blocks) {
    double floats = 0;
    for (const double n : ops.floats) floats += n;
    for (size_t k = arrays.size(); k-- > 0;) {
      const int array = arrays[k].array;
      const bool argument = stage(array).op.is_placeholder() || p_.is_output(array);
      steps_.push_back({statements_, stage(array).scope, arrays[k].written, log_scaled(s.runs * floats), blocks[k].columns,
                        argument ? 0 : log_scaled(static_cast<double>(e_.stages[static_cast<size_t>(array)].bytes))});
    }
    ++statements_;
  }

  void describe(const Statement& s) {
    const std::vector<TouchedAccess> arrays = accesses(s);
    for (size_t k = 0; k < s.loops.size(); ++k)
      for (const TouchedAccess& a : arrays) touched(s.loops[k]).push_back({a.array, a.elements[k], a.element, a.read});
    Operations ops = s.operations(p_);
    std::vector<Block> blocks;
    if (!s.init || keeps_steps_)
      for (const TouchedAccess& a : arrays) blocks.push_back(block(s, a));
    if (keeps_steps_) add_steps(s, ops, arrays, blocks);
    if (s.init) return;  // the sums that follow have the array's row

    for (const TouchedAccess& a : arrays)
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
  bool keeps_steps_ = false;
  size_t statements_ = 0;
  std::vector<ArrayStep> steps_;
};

}  // namespace

FeatureRows store_costs(const Program& program, const Evaluated& e, StoreDialect dialect) { return Extractor(program, e, dialect).rows(); }

StoreSteps store_steps(const Program& program, const Evaluated& e) {
  Extractor extractor(program, e, StoreDialect::tenset);
  extractor.keep_steps();
  FeatureRows rows = extractor.rows();
  return {std::move(rows), std::move(extractor).steps()};
}

Expected<FeatureRows> ansor_features(const FeatureInput& input) { return by_program(input, ansor_program); }
Expected<FeatureRows> tenset_features(const FeatureInput& input) { return by_program(input, tenset_program); }

FeatureRows ansor_program(const Program& program, const Evaluated& e, const Target&) { return store_costs(program, e, StoreDialect::tvm); }
FeatureRows tenset_program(const Program& program, const Evaluated& e, const Target&) { return store_costs(program, e, StoreDialect::tenset); }

std::string store_column_name(size_t column) {
  static constexpr const char* kOperations[] = {"multiply-adds", "additions", "multiplications", "divisions", "comparisons", "mathematical functions", "other functions"};
  static constexpr const char* kMarks[] = {"number of {} loops", "product of {} loops", "length of the innermost {} loop"};
  static constexpr const char* kMarked[] = {"vectorised", "unrolled", "parallel"};
  static constexpr const char* kThreads[] = {"bound to a GPU", "blocks in x", "blocks in y", "blocks in z", "threads in x", "threads in y", "threads in z", "virtual threads"};
  static constexpr const char* kArray[] = {"read",
                                           "written",
                                           "read and written",
                                           "bytes",
                                           "distinct bytes",
                                           "lines",
                                           "distinct lines",
                                           "used again in a loop",
                                           "used again by another statement",
                                           "never used again",
                                           "iterations until it is used again",
                                           "bytes until it is used again",
                                           "times it is used again",
                                           "bytes per reuse",
                                           "distinct bytes per reuse",
                                           "lines per reuse",
                                           "distinct lines per reuse",
                                           "stride"};
  static_assert(std::size(kArray) == kAnsorArrayColumns);
  if (column < 14) return fmt::format("{} on {}", kOperations[column % kAnsorFloatColumns], column < kAnsorFloatColumns ? "floats" : "integers");
  if (column < 16) return column == 14 ? "logical operations" : "choices between values";
  if (column < 49) {
    const size_t of = (column - 16) / 11, at = (column - 16) % 11;
    return at < std::size(kMarks) ? fmt::format(fmt::runtime(kMarks[at]), kMarked[of]) : fmt::format("place {} of {} loops", at - 2, kMarked[of]);
  }
  if (column < kAnsorFirstArray) return kThreads[column - 49];
  if (column < kAnsorCurve) return fmt::format("array {}: {}", (column - kAnsorFirstArray) / kAnsorArrayColumns + 1, kArray[(column - kAnsorFirstArray) % kAnsorArrayColumns]);
  if (column < kAnsorCurve + kAnsorCurveSamples) return fmt::format("arithmetic intensity at {} % of the loops", (column - kAnsorCurve + 1) * 100 / kAnsorCurveSamples);
  static constexpr const char* kEnd[] = {"bytes of the stored array", "elements of it over all runs", "times that it is made", "stores each time", "runs of the store", "loops around it", "stores up to which loops are written out"};
  return kEnd[column - kAnsorCurve - kAnsorCurveSamples];
}

}  // namespace tw::cost
