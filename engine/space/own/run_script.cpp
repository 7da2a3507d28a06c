// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/base/text.h"
#include "engine/schedule/loops.h"
#include "engine/space/own/script.h"

namespace tw::space::own {

namespace {

using schedule::Annotation;
using schedule::Step;

/// What a name stands for: a stage, or a loop of one.
struct Handle {
  std::string stage;
  std::optional<ir::Var> loop = {};
};

struct LoopAt {
  int stage = 0, iter = 0;
};

/// Runs the steps of a script one after the other; the first error ends it.
class Runner {
 public:
  Runner(const Script& script, const te::DagPtr& dag, const ConfigEntity& point) : script_(script), point_(point), schedule_(dag) {}

  Expected<schedule::Schedule> run() {
    for (const Statement& s : script_.steps) {
      if (s.condition) {
        TW_TRY(const int64_t holds, value_of(script_, *s.condition, point_));
        if (holds == 0) continue;
      }
      TW_CHECK(step(s));
    }
    return std::move(schedule_);
  }

  struct Row {
    Verb about;
    Expected<void> (Runner::*run)(const Statement&);
    size_t least, most;  ///< arguments
  };
  static const std::vector<Row>& rows();

 private:
  Expected<void> step(const Statement& s) {
    for (const Row& row : rows()) {
      if (s.verb != row.about.name) continue;
      if (s.arguments.size() < row.least || s.arguments.size() > row.most || !s.options.empty())
        return error(s.offset, fmt::format("Expected '{}', found {} arguments", row.about.form, s.arguments.size() + s.options.size()));
      return (this->*row.run)(s);
    }
    std::vector<std::string> names;
    for (const Row& row : rows()) names.emplace_back(row.about.name);
    return error(s.offset, fmt::format("Expected a step ({}) or the definition of a knob, found '{}'", fmt::join(names, ", "), s.verb));
  }

  Error error(size_t offset, std::string message) const { return script_.error(ErrorCode::parse_error, offset, std::move(message)); }

  Expected<void> append(const Statement& s, const Step& step) {
    if (auto done = schedule_.append(step); !done) {
      Error e = script_.error(done.error().code, s.offset, done.error().message);
      e.notes = done.error().notes;
      return e;
    }
    return {};
  }

  const schedule::Stage& at(int stage) const { return schedule_.stages()[static_cast<size_t>(stage)]; }
  std::string loops_text(int stage) const {
    std::vector<std::string> names;
    for (const schedule::Iter& i : at(stage).iters) names.push_back(i.var->name);
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  }

  /// The name of what the results of a step are; nothing if the statement names none.
  Expected<void> name_stage(const Statement& s, int stage) {
    if (s.results.empty()) return {};
    if (s.results.size() != 1) return error(s.offset, fmt::format("Expected one name for the new stage, found {}", s.results.size()));
    names_[s.results[0]] = {at(stage).op.name, std::nullopt};
    return {};
  }
  Expected<void> name_loops(const Statement& s, LoopAt first, size_t count) {
    if (s.results.empty()) return {};
    if (s.results.size() != count) return error(s.offset, fmt::format("Expected {} names for {} loops, found {}", count, count, s.results.size()));
    for (size_t k = 0; k < count; ++k) names_[s.results[k]] = {at(first.stage).op.name, at(first.stage).iters[static_cast<size_t>(first.iter) + k].var};
    return {};
  }
  Expected<void> no_results(const Statement& s) const {
    if (s.results.empty()) return {};
    return error(s.offset, fmt::format("Expected '{}' without names before it, as it makes no loops or stages", s.verb));
  }

  /// -1 if the name is no stage.
  int find_stage(const std::string& name) const {
    const auto it = names_.find(name);
    if (it != names_.end()) return it->second.loop ? -1 : schedule_.find(it->second.stage);
    return schedule_.find(name);
  }
  Expected<int> stage(const Term& t) const {
    const int i = t.kind == Term::Kind::name ? find_stage(t.text) : -1;
    if (i >= 0) return i;
    std::vector<std::string> known;
    for (const schedule::Stage& s : schedule_.stages()) known.push_back(s.op.name);
    if (known.size() > 12) known.resize(12);
    return error(t.offset, fmt::format("Expected a stage ({}), found '{}'", fmt::join(known, ", "), t.text));
  }

  Expected<LoopAt> loop(const Term& t) const { return loop(t.kind == Term::Kind::name ? t.text : "", t.offset); }
  Expected<LoopAt> loop(const std::string& name, size_t offset) const {
    if (const auto it = names_.find(name); it != names_.end() && it->second.loop) {
      const int s = schedule_.find(it->second.stage);
      const int i = s < 0 ? -1 : schedule::position_of(at(s), it->second.loop->get());
      if (i >= 0) return LoopAt{s, i};
      return error(offset, fmt::format("Expected a loop, found '{}', which a step before this one split, fused or took into another stage", name));
    }
    for (size_t dot = name.find('.'); dot != std::string::npos; dot = name.find('.', dot + 1)) {
      const int s = find_stage(name.substr(0, dot));
      if (s < 0) continue;
      const std::string inner = name.substr(dot + 1);
      const auto& iters = at(s).iters;
      const auto found = std::find_if(iters.begin(), iters.end(), [&](const schedule::Iter& i) { return i.var->name == inner; });
      if (found != iters.end()) return LoopAt{s, static_cast<int>(found - iters.begin())};
      return error(offset, fmt::format("Expected a loop of '{}' ({}), found '{}'", at(s).op.name, loops_text(s), inner));
    }
    return error(offset, fmt::format("Expected a loop, as 'yo' that a split made or 'C.y' of a stage, found '{}'", name));
  }

  const KnobDefinition* knob(const Term& t, KnobKind kind) const {
    const KnobDefinition* k = t.kind == Term::Kind::name ? script_.knob(t.text) : nullptr;
    return k && k->kind() == kind ? k : nullptr;
  }

  Expected<std::vector<int64_t>> lengths(const Term& t) const {
    if (const KnobDefinition* k = knob(t, KnobKind::split)) {
      const std::vector<int64_t>& factors = point_.split(k->name);
      return std::vector<int64_t>(factors.begin() + 1, factors.end());
    }
    std::vector<int64_t> out;
    const bool many = t.kind == Term::Kind::list;
    for (const Term& part : many ? t.parts : std::vector<Term>{t}) {
      TW_TRY(const int64_t v, value_of(script_, part, point_));
      if (v < 1 || v > kMaxNumber) return error(part.offset, fmt::format("Expected a length from 1 to {}, found {}", kMaxNumber, v));
      out.push_back(v);
    }
    if (out.empty() || out.size() + 1 > kMaxResults) return error(t.offset, fmt::format("Expected 1 to {} lengths, found {}", kMaxResults - 1, out.size()));
    return out;
  }

  Expected<void> split(const Statement& s) {
    TW_TRY(const LoopAt l, loop(s.arguments[0]));
    TW_TRY(const std::vector<int64_t> inner, lengths(s.arguments[1]));
    TW_CHECK(append(s, schedule::SplitStep{l.stage, l.iter, at(l.stage).iters[static_cast<size_t>(l.iter)].extent, inner}));
    return name_loops(s, l, inner.size() + 1);
  }

  Expected<std::vector<LoopAt>> loops(const Statement& s) const {
    std::vector<LoopAt> out;
    for (const Term& t : s.arguments) {
      TW_TRY(const LoopAt l, loop(t));
      if (!out.empty() && l.stage != out.front().stage)
        return error(t.offset, fmt::format("Expected loops of one stage, '{}', found one of '{}'", at(out.front().stage).op.name, at(l.stage).op.name));
      out.push_back(l);
    }
    return out;
  }

  Expected<void> fuse(const Statement& s) {
    TW_TRY(const std::vector<LoopAt> all, loops(s));
    schedule::FuseStep step{all.front().stage, {}};
    for (const LoopAt& l : all) step.iters.push_back(l.iter);
    TW_CHECK(append(s, step));
    return name_loops(s, {step.stage, step.iters.front()}, 1);
  }

  /// The loops take the places that they have among all of the stage in this order.
  Expected<void> put_in_order(const Statement& s, const std::vector<LoopAt>& all) {
    schedule::ReorderStep step{all.front().stage, {}};
    std::vector<int> places;
    for (const LoopAt& l : all) places.push_back(l.iter);
    std::sort(places.begin(), places.end());
    if (std::adjacent_find(places.begin(), places.end()) != places.end()) return error(s.offset, "Expected every loop once");
    for (size_t i = 0; i < at(step.stage).iters.size(); ++i) step.order.push_back(static_cast<int>(i));
    for (size_t k = 0; k < all.size(); ++k) step.order[static_cast<size_t>(places[k])] = all[k].iter;
    return append(s, step);
  }

  Expected<void> reorder(const Statement& s) {
    TW_CHECK(no_results(s));
    const KnobDefinition* k = s.arguments.size() == 1 ? knob(s.arguments[0], KnobKind::reorder) : nullptr;
    std::vector<LoopAt> all;
    if (k) {
      for (const int position : point_.reorder(k->name)) {
        TW_TRY(const LoopAt l, loop(k->axes[static_cast<size_t>(position)], k->offset));
        if (!all.empty() && l.stage != all.front().stage) return error(k->offset, "Expected loops of one stage to reorder");
        all.push_back(l);
      }
    } else {
      TW_TRY(all, loops(s));
    }
    return put_in_order(s, all);
  }

  Expected<void> mark(const Statement& s, Annotation a) {
    TW_CHECK(no_results(s));
    for (const Term& t : s.arguments) {
      TW_TRY(const LoopAt l, loop(t));
      TW_CHECK(append(s, schedule::AnnotationStep{l.stage, l.iter, a}));
    }
    return {};
  }
  Expected<void> vectorize(const Statement& s) { return mark(s, Annotation::vectorize); }
  Expected<void> unroll(const Statement& s) { return mark(s, Annotation::unroll); }
  Expected<void> parallel(const Statement& s) { return mark(s, Annotation::parallel); }

  static std::optional<Annotation> annotation(const std::string& word) {
    if (word == "vec") return Annotation::vectorize;
    for (const Annotation a : schedule::kAnnotations)
      if (word == schedule::annotation_name(a)) return a;
    return std::nullopt;
  }

  Expected<void> bind(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const LoopAt l, loop(s.arguments[0]));
    const auto a = annotation(s.arguments[1].text);
    if (!a || !schedule::is_binding(*a))
      return error(s.arguments[1].offset, fmt::format("Expected blockIdx.x, threadIdx.x, vthread and so on, found '{}'", s.arguments[1].text));
    return append(s, schedule::AnnotationStep{l.stage, l.iter, *a});
  }

  Expected<void> annotate(const Statement& s) {
    TW_CHECK(no_results(s));
    const KnobDefinition* k = knob(s.arguments[0], KnobKind::annotate);
    if (!k) return error(s.arguments[0].offset, fmt::format("Expected a knob of define_annotate, found '{}'", s.arguments[0].text));
    const std::vector<std::string>& words = point_.annotate(k->name);
    for (size_t i = 0; i < words.size() && i < k->axes.size(); ++i) {
      if (words[i] == "none") continue;
      TW_TRY(const LoopAt l, loop(k->axes[i], k->offset));
      if (words[i] == "fuse" && i + 1 < k->axes.size()) {
        TW_TRY(const LoopAt next, loop(k->axes[i + 1], k->offset));
        if (next.stage != l.stage) return error(k->offset, "Expected loops of one stage to annotate");
        TW_CHECK(append(s, schedule::FuseStep{l.stage, {l.iter, next.iter}}));
        names_[k->axes[i + 1]] = {at(l.stage).op.name, at(l.stage).iters[static_cast<size_t>(l.iter)].var};
        continue;
      }
      const auto a = annotation(words[i]);
      if (!a) return error(k->offset, fmt::format("Expected none, unroll, vec, parallel, fuse or a thread's coordinate, found '{}'", words[i]));
      TW_CHECK(append(s, schedule::AnnotationStep{l.stage, l.iter, *a}));
    }
    return {};
  }

  Expected<void> compute_at(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int moved, stage(s.arguments[0]));
    TW_TRY(const LoopAt l, loop(s.arguments[1]));
    return append(s, schedule::ComputeAtStep{moved, l.stage, l.iter});
  }
  Expected<void> compute_inline(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int i, stage(s.arguments[0]));
    return append(s, schedule::ComputeInlineStep{i});
  }
  Expected<void> compute_root(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int i, stage(s.arguments[0]));
    return append(s, schedule::ComputeRootStep{i});
  }

  Expected<void> cache_write(const Statement& s) {
    TW_TRY(const int i, stage(s.arguments[0]));
    TW_CHECK(append(s, schedule::CacheWriteStep{i, s.arguments.size() > 1 ? s.arguments[1].text : "local"}));
    return name_stage(s, i);
  }
  Expected<void> cache_read(const Statement& s) {
    TW_TRY(const int i, stage(s.arguments[0]));
    schedule::CacheReadStep step{i, s.arguments.size() > 2 ? s.arguments[2].text : "local", {}};
    for (const Term& t : s.arguments[1].kind == Term::Kind::list ? s.arguments[1].parts : std::vector<Term>{s.arguments[1]}) {
      TW_TRY(const int reader, stage(t));
      step.readers.push_back(reader);
    }
    TW_CHECK(append(s, step));
    return name_stage(s, i + 1);
  }
  Expected<void> rfactor(const Statement& s) {
    TW_TRY(const LoopAt l, loop(s.arguments[0]));
    int64_t place = 0;
    if (s.arguments.size() > 1) {
      TW_TRY(place, value_of(script_, s.arguments[1], point_));
    }
    TW_CHECK(append(s, schedule::RfactorStep{l.stage, l.iter, static_cast<int>(std::clamp<int64_t>(place, -1, kMaxNumber - 1))}));
    return name_stage(s, l.stage);
  }

  Expected<int64_t> count(const Statement& s, size_t argument, int64_t most = kMaxNumber - 1) const {
    TW_TRY(const int64_t v, value_of(script_, s.arguments[argument], point_));
    if (v < 0 || v > most) return error(s.arguments[argument].offset, fmt::format("Expected a number from 0 to {}, found {}", most, v));
    return v;
  }
  Expected<void> pad(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const LoopAt l, loop(s.arguments[0]));
    TW_TRY(const int64_t factor, count(s, 1));
    return append(s, schedule::PadStep{l.stage, l.iter, factor});
  }
  Expected<void> storage_align(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const LoopAt l, loop(s.arguments[0]));
    TW_TRY(const int64_t factor, count(s, 1));
    TW_TRY(const int64_t offset, count(s, 2));
    return append(s, schedule::StorageAlignStep{l.stage, l.iter, factor, offset});
  }
  Expected<void> double_buffer(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int i, stage(s.arguments[0]));
    return append(s, schedule::DoubleBufferStep{i});
  }
  Expected<void> pipeline(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int i, stage(s.arguments[0]));
    TW_TRY(const int64_t arrays, count(s, 1, 64));
    return append(s, schedule::PipelineStep{i, static_cast<int>(arrays)});
  }
  Expected<void> auto_unroll(const Statement& s) {
    TW_CHECK(no_results(s));
    TW_TRY(const int i, stage(s.arguments[0]));
    TW_TRY(const int64_t steps, count(s, 1, 1 << 16));
    return append(s, schedule::AutoUnrollStep{i, steps});
  }

  const Script& script_;
  const ConfigEntity& point_;
  schedule::Schedule schedule_;
  std::map<std::string, Handle> names_;
};

const std::vector<Runner::Row>& Runner::rows() {
  constexpr size_t kMany = 64;
  static const std::vector<Row> kRows = {
      {{"split", "outer, inner = split(LOOP, KNOB)", "Cuts a loop by a split knob, a length or a list of lengths of the inner loops"}, &Runner::split, 2, 2},
      {{"fuse", "loop = fuse(OUTER, INNER)", "Joins loops that stand inside each other"}, &Runner::fuse, 1, kMany},
      {{"reorder", "reorder(LOOP, LOOP)", "Puts loops of a stage into this order, or into that of a reorder knob"}, &Runner::reorder, 1, kMany},
      {{"vectorize", "vectorize(LOOP)", "Computes the iterations of a loop in the lanes of vectors"}, &Runner::vectorize, 1, kMany},
      {{"unroll", "unroll(LOOP)", "Writes the iterations of a loop out"}, &Runner::unroll, 1, kMany},
      {{"parallel", "parallel(LOOP)", "Shares the iterations of a loop out to threads"}, &Runner::parallel, 1, kMany},
      {{"annotate", "annotate(KNOB)", "Does to the loops of an annotate knob what the point says"}, &Runner::annotate, 1, 1},
      {{"bind", "bind(LOOP, threadIdx.x)", "Takes a loop to blocks or threads of a GPU"}, &Runner::bind, 2, 2},
      {{"compute_at", "compute_at(STAGE, LOOP)", "Computes what a turn of its reader's loop needs in that loop"}, &Runner::compute_at, 2, 2},
      {{"compute_inline", "compute_inline(STAGE)", "Writes the stage's definition in place of its reads"}, &Runner::compute_inline, 1, 1},
      {{"compute_root", "compute_root(STAGE)", "Computes the stage by itself, before its readers"}, &Runner::compute_root, 1, 1},
      {{"cache_write", "stage = cache_write(STAGE, local)", "Computes into a nearer memory and copies out"}, &Runner::cache_write, 1, 2},
      {{"cache_read", "stage = cache_read(STAGE, [READER], local)", "Lets readers read a copy in a nearer memory"}, &Runner::cache_read, 2, 3},
      {{"rfactor", "stage = rfactor(LOOP)", "Sums a part of a reduction apart, in a stage of its own"}, &Runner::rfactor, 1, 2},
      {{"pad", "pad(LOOP, NUMBER)", "Rounds an axis up to a multiple, so that splits need no guards"}, &Runner::pad, 2, 2},
      {{"storage_align", "storage_align(LOOP, FACTOR, OFFSET)", "Puts gaps into an array, so that rows do not collide"}, &Runner::storage_align, 3, 3},
      {{"double_buffer", "double_buffer(STAGE)", "Computes the next iteration's values while this one's are used"}, &Runner::double_buffer, 1, 1},
      {{"pipeline", "pipeline(STAGE, ARRAYS)", "Copies ahead into several arrays in turn (GPU)"}, &Runner::pipeline, 2, 2},
      {{"auto_unroll", "auto_unroll(STAGE, NUMBER)", "Writes out the innermost loops up to so many stores"}, &Runner::auto_unroll, 2, 2},
  };
  return kRows;
}

}  // namespace

Expected<schedule::Schedule> run_script(const Script& script, const te::DagPtr& dag, const ConfigEntity& point) { return Runner(script, dag, point).run(); }

std::vector<Verb> verbs() {
  std::vector<Verb> all;
  for (const Runner::Row& row : Runner::rows()) all.push_back(row.about);
  return all;
}

}  // namespace tw::space::own
