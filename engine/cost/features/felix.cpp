// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/features/felix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "engine/cost/descent_program.h"
#include "engine/cost/features/statements.h"
#include "engine/schedule/loops.h"

namespace tw::cost {

namespace {

using schedule::Annotation;
using space::Program;
using space::SmoothProgram;
using space::Tape;
using Id = Tape::Id;

constexpr double kFelixLine = 64;
constexpr size_t kArrays = 5, kArrayColumns = 18, kFirstArray = 57, kAllocation = 147;

/// What a statement does with an array, over loops.
struct SmoothAccess {
  int array = -1;
  bool read = false, written = false;
  std::vector<std::vector<SmoothProgram::Index>> indices = {};  ///< of each access
  // By loop around the statement, outermost first.
  std::vector<char> moves = {};      ///< whether it stands in an index
  std::vector<Id> stride = {};       ///< logarithm of what a step of it moves, in elements
  std::vector<Id> elements = {};     ///< logarithm of what it and those inside touch
  std::vector<Id> all = {};          ///< of what all loops together touch, by dimension
};

/// A note that a loop keeps of an array that a statement in it touches.
struct Note {
  int array;
  Id elements;
  double bytes;
};

class Writer {
 public:
  Writer(const SmoothProgram& p, Tape& tape) : p_(p), t_(tape), notes_(2 * p.loops().size()) {
    // The order of statements does not depend on numbers: a loop is there unless it runs once for all of them.
    space::Evaluated shape;
    for (size_t k = 0; k < p.loops().size(); ++k) shape.loops.push_back(p.runs_once(static_cast<int>(k)) ? 1 : 2);
    statements_ = statements_of(p.program(), shape);
  }

  std::vector<std::array<Id, kFelixColumns>> rows() {
    for (const Statement& s : statements_) describe(s);
    std::vector<std::array<Id, kFelixColumns>> out;
    for (const auto& [stage, row] : rows_) out.push_back(row);
    return out;
  }

 private:
  const schedule::Stage& stage(int i) const { return p_.program().scheduled()[static_cast<size_t>(i)]; }
  Annotation mark(const Around& a) const { return p_.program().loops()[static_cast<size_t>(a.loop)].annotation; }
  Id extent(const Around& a) const { return p_.loops()[static_cast<size_t>(a.loop)]; }
  std::vector<Note>& notes(const Around& a) { return notes_[static_cast<size_t>(2 * a.loop + a.of_init)]; }
  Id ln(double x) { return t_.constant(std::log(x)); }
  Id times(Id truth, Id value) { return t_.product(truth, value); }
  Id plus(Id a, Id b) { return t_.plus(a, b); }
  Id minus(Id a, Id b) { return t_.minus(a, b); }
  /// Whether a loop is one: those that are bound always are.
  Id there(const Around& a) { return schedule::is_binding(mark(a)) ? t_.constant(1) : t_.above_one(extent(a)); }
  /// A number as a feature, of itself or its logarithm.
  Id feature_of(Id value) { return t_.log(t_.sum({{value}}, 1)); }
  Id feature(Id logarithm) { return t_.log_next(logarithm); }

  std::vector<SmoothAccess> accesses(const Statement& s) {
    std::vector<SmoothAccess> out;
    const auto of = [&](int array) -> SmoothAccess& {
      for (SmoothAccess& a : out)
        if (a.array == array) return a;
      out.push_back({.array = array});
      return out.back();
    };
    const Program::Stage& st = p_.program().stages()[static_cast<size_t>(s.stage)];
    const SmoothProgram::Stage& smooth = p_.stages()[static_cast<size_t>(s.stage)];
    SmoothAccess& own = of(s.stage);
    own.written = true;
    own.read = !s.init && stage(s.stage).op.reducer != te::Reducer::none;
    own.indices.emplace_back(smooth.values.begin(), smooth.values.begin() + static_cast<std::ptrdiff_t>(st.spatial));
    for (const Program::Read& r : st.reads) {
      if (s.init) break;
      SmoothAccess& a = of(r.source);
      a.read = true;
      std::vector<SmoothProgram::Index>& indices = a.indices.emplace_back();
      for (const Program::Index& index : r.indices) indices.push_back(p_.over_loops(index, smooth));
    }
    for (SmoothAccess& a : out) touch(a, s.loops);
    return out;
  }

  /// What each loop touches of an array, from the innermost outwards, and how far its steps move.
  void touch(SmoothAccess& a, const std::vector<Around>& loops) {
    const std::vector<int64_t>& shape = stage(a.array).op.output->shape;
    struct Range {
      Id lo, hi;
    };
    std::vector<std::vector<Range>> ranges;
    for (const auto& indices : a.indices) {
      auto& of_access = ranges.emplace_back();
      for (size_t d = 0; d < shape.size(); ++d) {
        const double least = indices[d].constant, most = least + (indices[d].exact ? 0 : static_cast<double>(shape[d] - 1));
        of_access.push_back({t_.constant(least), t_.constant(most)});
      }
    }
    const auto dimension = [&](size_t d) {
      Id lo = ranges[0][d].lo, hi = ranges[0][d].hi;
      for (size_t n = 1; n < ranges.size(); ++n) lo = t_.least(lo, ranges[n][d].lo), hi = t_.most(hi, ranges[n][d].hi);
      return t_.log(t_.sum({{hi}, {lo, -1}}, 1));
    };
    const std::vector<double> apart = neighbour_distances(p_.program(), a.array);
    for (size_t d = 0; d < shape.size(); ++d) a.all.push_back(dimension(d));
    a.moves.assign(loops.size(), 0);
    a.stride.assign(loops.size(), t_.constant(0));
    a.elements.assign(loops.size(), t_.constant(0));
    for (size_t k = loops.size(); k-- > 0;) {
      for (size_t n = 0; n < a.indices.size(); ++n) {
        bool found = false;  // of each access the last dimension that the loop moves
        for (size_t d = shape.size(); d-- > 0;)
          for (const SmoothProgram::Term& term : a.indices[n][d].terms) {
            if (term.loop != loops[k].loop) continue;
            if (!found) {
              // Of a digit Felix does not know how far a step moves it.
              const Id step = plus(term.digit() ? ln(2) : term.coeff, ln(apart[d]));
              a.stride[k] = a.moves[k] ? t_.least(a.stride[k], step) : step;
            }
            found = true;
            a.moves[k] = 1;
            if (!a.indices[n][d].exact) continue;
            Id& side = term.sign > 0 ? ranges[n][d].hi : ranges[n][d].lo;
            const double sign = term.sign;
            side = t_.sum({{side}, {t_.exp(plus(term.coeff, term.range)), sign}, {t_.exp(term.coeff), -sign}});
          }
      }
      if (a.moves[k])
        for (size_t d = 0; d < shape.size(); ++d) a.all[d] = dimension(d);
      for (const Id n : a.all) a.elements[k] = plus(a.elements[k], n);
    }
  }

  Id bytes_in(const Around& l) {
    Id n = t_.constant(0);
    for (const Note& note : notes(l)) n = t_.sum({{n}, {t_.exp(note.elements), note.bytes}});
    return t_.log(n);
  }

  struct Lines {
    Id stride, reused, reported;
  };
  /// How far neighbours in memory are apart in the loops, and after how many iterations a line is left: of the innermost loop that is one.
  Lines lines_of(const SmoothAccess& a, const std::vector<Around>& loops) {
    Id in = t_.constant(1), first = t_.constant(1), done = t_.constant(0);
    Lines out{t_.constant(0), t_.constant(0), t_.constant(0)};
    for (size_t k = loops.size(); k-- > 0;) {
      done = plus(done, extent(loops[k]));
      const Id one = there(loops[k]);
      if (a.moves[k]) {
        const Id hit = t_.both(in, one);
        out.stride = plus(out.stride, times(hit, a.stride[k]));
        out.reported = plus(out.reported, times(t_.both(hit, first), a.stride[k]));
        out.reused = plus(out.reused, times(hit, done));
        in = t_.both(in, t_.negation(one));
      }
      first = t_.both(first, t_.negation(one));
    }
    out.reused = plus(out.reused, times(in, done));
    return out;
  }

  /// Bytes that lie side by side: the last dimension that is touched whole, or one element.
  Id run_of(const SmoothAccess& a, double bytes) {
    const std::vector<int64_t>& shape = stage(a.array).op.output->shape;
    Id in = t_.constant(1), run = t_.constant(0);
    for (size_t d = a.all.size(); d-- > 0;) {
      const Id whole = t_.zero(minus(ln(static_cast<double>(shape[d])), a.all[d]));
      run = plus(run, times(t_.both(in, whole), plus(a.all[d], ln(bytes))));
      in = t_.both(in, t_.negation(whole));
    }
    return plus(run, times(in, ln(bytes)));
  }

  struct Reuse {
    Id many, serial, none;  ///< kinds, as truths
    Id iterations, bytes, times;
  };
  Reuse reuse_of(const SmoothAccess& a, const std::vector<Around>& loops) {
    Id in = t_.constant(1), before = t_.constant(0);
    Reuse out{t_.constant(0), t_.constant(0), -1, t_.constant(0), t_.constant(0), t_.constant(0)};
    for (size_t k = loops.size(); k-- > 0;) {
      const Id n = extent(loops[k]), one = t_.both(in, t_.above_one(n));
      double entries = 0;
      Id least = -1;
      for (const Note& note : notes(loops[k]))
        if (note.array == a.array) {
          ++entries;
          least = least < 0 ? note.elements : t_.least(least, note.elements);
        }
      const bool serial = entries >= 2;
      if (!a.moves[k]) {
        Id bytes;
        if (k + 1 < loops.size()) {
          bytes = bytes_in(loops[k + 1]);
        } else {
          double elements = 0;
          for (const Note& note : notes(loops[k])) elements += note.bytes;
          bytes = ln(elements);
        }
        out.many = t_.either(out.many, one);
        out.iterations = plus(out.iterations, times(one, before));
        out.bytes = plus(out.bytes, times(one, bytes));
        out.times = plus(out.times, times(one, n));
      }
      if (serial) {
        out.serial = t_.either(out.serial, one);
        out.iterations = plus(out.iterations, times(one, minus(least, n)));
        out.bytes = plus(out.bytes, times(one, minus(bytes_in(loops[k]), n)));
        out.times = plus(out.times, times(one, ln(entries - 1)));
      }
      before = plus(before, n);
      if (!a.moves[k] || serial) in = t_.both(in, t_.negation(t_.above_one(n)));
    }
    out.none = t_.negation(t_.either(out.many, out.serial));
    return out;
  }

  void put_array(const Statement& s, const SmoothAccess& a, Id runs, Id* out) {
    const double element = static_cast<double>(stage(a.array).op.output->dtype.bytes());
    const Id bytes = plus(runs, ln(element)), unique = plus(s.loops.empty() ? t_.constant(0) : a.elements.front(), ln(element));
    const Lines along = lines_of(a, s.loops);
    const Id one = t_.constant(0);
    const Id lines = t_.most(one, plus(minus(runs, along.reused), t_.least(one, plus(along.stride, ln(element / kFelixLine)))));
    const Id unique_lines = t_.most(one, minus(unique, t_.least(run_of(a, element), ln(kFelixLine))));
    const Reuse reuse = reuse_of(a, s.loops);
    for (size_t k = 0; k < 3; ++k) out[k] = t_.constant(0);
    out[a.read && a.written ? 2 : a.written ? 1 : 0] = t_.constant(1);
    const Id sizes[] = {bytes, unique, lines, unique_lines};
    for (size_t k = 0; k < 4; ++k) {
      out[3 + k] = feature(sizes[k]);
      out[13 + k] = feature(minus(sizes[k], reuse.times));
    }
    out[7] = reuse.many;
    out[8] = reuse.serial;
    out[9] = reuse.none;
    out[10] = feature(reuse.iterations);
    out[11] = feature(reuse.bytes);
    out[12] = feature(reuse.times);
    out[17] = feature(along.reported);
  }

  /// Number, product, innermost length and place of the loops with such a mark.
  template <class Is>
  void put_marks(const Statement& s, Is is, Id* out) {
    Id number = t_.constant(0), product = t_.constant(0), innermost = -1, none = t_.constant(1);
    for (const Around& l : s.loops) {
      if (!is(mark(l))) continue;
      const Id one = there(l);
      number = plus(number, one);
      none = t_.both(none, t_.negation(one));
      product = plus(product, innermost = extent(l));
    }
    for (size_t k = 0; k < 11; ++k) out[k] = t_.constant(0);
    out[3] = none;
    out[10] = t_.negation(none);
    if (innermost < 0) return;
    out[0] = feature_of(number);
    out[1] = feature(product);
    out[2] = feature(innermost);
  }

  void put_threads(const Statement& s, Id* out) {
    static constexpr Annotation kBound[] = {Annotation::block_x,  Annotation::block_y,  Annotation::block_z, Annotation::thread_x,
                                            Annotation::thread_y, Annotation::thread_z, Annotation::vthread};
    std::array<Id, 7> extents;
    extents.fill(t_.constant(0));
    bool bound = false;
    for (const Around& l : s.loops)
      for (size_t k = 0; k < std::size(kBound); ++k)
        if (mark(l) == kBound[k]) {
          bound = true;
          extents[k] = k == 6 ? plus(extents[k], extent(l)) : extent(l);
        }
    out[0] = t_.constant(bound ? 1 : 0);
    for (size_t k = 0; k < extents.size(); ++k) out[1 + k] = feature(extents[k]);
  }

  /// What is written for an index, as additions, products and divisions of integers.
  void count_index(const SmoothProgram::Index& index, std::array<Id, 3>& out) {
    std::vector<Tape::Part> parts;
    for (const SmoothProgram::Term& term : index.terms) {
      const Id one = t_.above_one(term.range);
      parts.push_back({one});
      if (!t_.is_constant(term.coeff, 0)) out[1] = plus(out[1], one);
      out[2] = t_.sum({{out[2]}, {one, static_cast<double>((term.below >= 0) + (term.above >= 0))}});
    }
    out[0] = plus(out[0], t_.most(t_.constant(0), t_.sum(std::move(parts), index.constant != 0 ? 0 : -1)));
  }

  void put_operations(const Statement& s, const std::vector<SmoothAccess>& arrays, Id runs, Id* out) {
    const Operations ops = s.operations(p_.program());
    std::array<Id, 3> indices;
    indices.fill(t_.constant(0));
    for (const SmoothAccess& a : arrays)
      for (size_t k = 0; k < a.indices.size(); ++k)
        if (k > 0 || !a.written || a.read)  // but where it only stores
          for (const SmoothProgram::Index& index : a.indices[k]) count_index(index, indices);
    const auto put = [&](Id& at, double times, Id more) {
      const Id number = more < 0 ? t_.constant(times) : t_.sum({{more}}, times);
      at = t_.is_constant(number, 0) ? t_.constant(0) : feature_of(t_.product(t_.exp(runs), number));
    };
    for (size_t k = 0; k < 7; ++k) {
      put(out[k], ops.floats[k], -1);
      const bool index = k >= Operations::kAdd && k <= Operations::kDiv;
      put(out[7 + k], ops.ints[k], index ? indices[k - Operations::kAdd] : -1);
    }
    put(out[14], ops.truths, -1);
    put(out[15], ops.choices, -1);
  }

  void describe(const Statement& s) {
    std::vector<SmoothAccess> arrays = accesses(s);
    for (size_t k = 0; k < s.loops.size(); ++k)
      for (const SmoothAccess& a : arrays) notes(s.loops[k]).push_back({a.array, a.elements[k], static_cast<double>(stage(a.array).op.output->dtype.bytes())});
    if (s.init) return;  // the sums that follow have the array's row

    Id runs = t_.constant(0), placed = t_.constant(0), number = t_.constant(0);
    for (const Around& l : s.loops) {
      runs = plus(runs, extent(l));
      number = plus(number, there(l));
      if (p_.program().loops()[static_cast<size_t>(l.loop)].stage != s.stage) placed = plus(placed, extent(l));
    }
    std::array<Id, kFelixColumns>& row = rows_[s.stage];
    row.fill(t_.constant(0));
    put_operations(s, arrays, runs, row.data());
    put_marks(s, [](Annotation a) { return a == Annotation::vectorize; }, &row[16]);
    put_marks(s, [](Annotation a) { return schedule::is_unrolled(a); }, &row[27]);
    put_marks(s, [](Annotation a) { return a == Annotation::parallel || schedule::is_binding(a); }, &row[38]);
    put_threads(s, &row[49]);
    std::stable_sort(arrays.begin(), arrays.end(), [&](const SmoothAccess& a, const SmoothAccess& b) { return stage(a.array).op.name < stage(b.array).op.name; });
    for (size_t k = 0; k < std::min(arrays.size(), kArrays); ++k) put_array(s, arrays[k], runs, &row[kFirstArray + k * kArrayColumns]);
    if (!p_.program().is_output(s.stage)) {
      const Id elements = p_.stages()[static_cast<size_t>(s.stage)].elements;
      row[kAllocation] = feature(plus(elements, ln(static_cast<double>(stage(s.stage).op.output->dtype.bytes()))));
      row[kAllocation + 1] = feature(plus(elements, placed));
      row[kAllocation + 2] = feature(placed);
      row[kAllocation + 3] = feature(minus(runs, placed));
    }
    row[151] = feature(runs);
    row[152] = feature_of(number);
    const Id unroll = p_.unroll(s.stage);
    row[153] = unroll < 0 ? t_.constant(0) : feature(unroll);
  }

  const SmoothProgram& p_;
  Tape& t_;
  std::vector<Statement> statements_;
  std::vector<std::vector<Note>> notes_;                   ///< by loop, then that of an init
  std::map<int, std::array<Id, kFelixColumns>> rows_;      ///< by stage
};

}  // namespace

std::vector<std::array<Tape::Id, kFelixColumns>> felix_formulas(const SmoothProgram& program, Tape& tape) { return Writer(program, tape).rows(); }

Expected<FeatureRows> felix_features(const FeatureInput& input) {
  TW_TRY(const schedule::Schedule s, input.schedule());
  TW_TRY(const DescentProgram program, DescentProgram::make(space::opened(input.dag, s.steps()), input.target));
  return program.at_steps();
}

std::string felix_column(size_t column) {
  static const char* const kOperations[] = {"fused products", "additions", "products", "divisions", "comparisons", "functions", "others"};
  static const char* const kMarks[] = {"vectors", "written out", "parallel"};
  static const char* const kThreads[] = {"on a GPU", "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z", "virtual threads"};
  static const char* const kArray[] = {"is read",      "is written",   "is read and written", "bytes",         "unique bytes",   "lines",
                                       "unique lines", "reused by a loop", "reused by a statement", "not reused", "reuse distance in iterations", "reuse distance in bytes",
                                       "reuses",       "bytes per reuse", "unique bytes per reuse", "lines per reuse", "unique lines per reuse", "stride"};
  static const char* const kLast[] = {"bytes kept", "elements kept in all runs", "runs of what keeps it", "runs inside that", "runs", "loops", "stores up to which loops are written out"};
  if (column < 14) return fmt::format("{} of {}", kOperations[column % 7], column < 7 ? "floats" : "integers");
  if (column < 16) return column == 14 ? "truths" : "choices";
  if (column < 49) {
    const size_t k = (column - 16) % 11;
    return fmt::format("{}: {}", kMarks[(column - 16) / 11], k == 0 ? "loops" : k == 1 ? "product" : k == 2 ? "innermost" : fmt::format("place {}", k - 3));
  }
  if (column < 57) return kThreads[column - 49];
  if (column < kAllocation) return fmt::format("array {}: {}", (column - kFirstArray) / kArrayColumns, kArray[(column - kFirstArray) % kArrayColumns]);
  return kLast[column - kAllocation];
}

}  // namespace tw::cost
