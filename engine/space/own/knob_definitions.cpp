// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/space/knobs/other.h"
#include "engine/space/knobs/split.h"
#include "engine/space/own/script.h"

namespace tw::space::own {

namespace {

constexpr const char* kSplit = "define_split";
constexpr const char* kReorder = "define_reorder";
constexpr const char* kAnnotate = "define_annotate";
constexpr const char* kKnob = "define_knob";
constexpr size_t kMaxAxes = 8;

/// Reads the arguments of one definition. The first error sticks.
class DefinitionReader {
 public:
  DefinitionReader(const Script& script, const Statement& s) : script_(script), s_(s) {}

  Expected<KnobDefinition> run() {
    KnobDefinition k{.offset = s_.offset};
    if (s_.arguments.size() != 2)
      fail(s_.offset, fmt::format("Expected a name and {} for '{}', found {} arguments", s_.verb == kSplit ? "a loop or an extent" : "a list", s_.verb, s_.arguments.size()));
    if (!error_) k.name = word(s_.arguments[0], "the name of the knob");
    if (!error_) k.help = text_option("help", "");
    if (!error_ && s_.verb == kSplit) split(k);
    if (!error_ && s_.verb == kReorder) reorder(k);
    if (!error_ && s_.verb == kAnnotate) annotate(k);
    if (!error_ && s_.verb == kKnob) knob(k);
    for (const auto& [name, value] : s_.options)
      if (!error_ && std::find(used_.begin(), used_.end(), name) == used_.end())
        fail(value.offset, fmt::format("Expected one of the options {} for '{}', found '{}'", fmt::join(used_, ", "), s_.verb, name));
    if (error_) return *error_;
    return k;
  }

 private:
  void fail(size_t offset, const std::string& message) {
    if (!error_) error_ = script_.error(ErrorCode::parse_error, offset, message);
  }

  const Term* option(const char* name) {
    used_.emplace_back(name);
    const auto it = s_.options.find(name);
    return it == s_.options.end() ? nullptr : &it->second;
  }
  std::string word(const Term& t, const char* what) {
    if (t.kind != Term::Kind::name && t.kind != Term::Kind::text) fail(t.offset, fmt::format("Expected {}", what));
    return t.text;
  }
  std::string text_option(const char* name, const char* fallback) {
    const Term* t = option(name);
    return t ? word(*t, "a word") : fallback;
  }
  int64_t number(const Term& t, int64_t least, int64_t most) {
    const auto v = value_of(script_, t, {});
    if (!v)
      fail(t.offset, "Expected a number");
    else if (*v < least || *v > most)
      fail(t.offset, fmt::format("Expected a number from {} to {}, found {}", least, most, *v));
    return error_ ? least : *v;
  }
  int64_t number_option(const char* name, int64_t fallback, int64_t least, int64_t most) {
    const Term* t = option(name);
    return t ? number(*t, least, most) : fallback;
  }
  const std::vector<Term>& list(const Term& t, const char* what) {
    if (t.kind != Term::Kind::list || t.parts.empty()) fail(t.offset, fmt::format("Expected {} in brackets", what));
    return t.parts;
  }
  void policy_is_none_of(const std::string& policy, const char* known) {
    const Term* t = option("policy");
    fail(t ? t->offset : s_.offset, fmt::format("Expected the policy {}, found '{}'", known, policy));
  }

  /// `C.y` or a number.
  int64_t extent(const Term& t) {
    if (t.kind != Term::Kind::name) return number(t, 1, kMaxNumber);
    std::vector<std::string> known;
    for (const te::Op& op : script_.source.dag->ops)
      for (const auto* axes : {&op.axes, &op.reduce_axes})
        for (const te::Axis& a : *axes) {
          known.push_back(op.name + "." + a.var->name);
          if (known.back() != t.text) continue;
          if (a.extent > kMaxNumber) fail(t.offset, fmt::format("Expected an axis of at most {} iterations, found {}", kMaxNumber, a.extent));
          return a.extent;
        }
    if (known.size() > 12) known.resize(12);
    fail(t.offset, fmt::format("Expected an extent, or an axis as {}, found '{}'", fmt::join(known, ", "), t.text));
    return 1;
  }

  void split(KnobDefinition& k) {
    k.extent = extent(s_.arguments[1]);
    SplitOptions o;
    o.policy = text_option("policy", "factors");
    o.help = k.help;
    const Term* candidates = option("candidate");
    if (candidates && !option("policy")) o.policy = "candidate";
    o.num_outputs = static_cast<int>(number_option("num_outputs", 2, 2, 6));
    o.max_factor = number_option("max_factor", INT64_MAX, 1, kMaxNumber);
    if (const Term* t = option("no_tail")) o.no_tail = number(*t, 0, 1) != 0;
    if (error_) return;
    if (o.policy == "candidate") {
      if (!candidates) return fail(s_.offset, "Expected 'candidate' with the lists of factors for the policy 'candidate'");
      for (const Term& c : list(*candidates, "lists of factors")) {
        o.candidates.emplace_back();
        for (const Term& f : list(c, "the factors of a split")) o.candidates.back().push_back(number(f, o.candidates.back().empty() ? -1 : 1, kMaxNumber));
        if (!error_ && o.candidates.back().front() == 0) fail(c.offset, "Expected -1 or a factor, found 0");
      }
      if (error_) return;
      if (!s_.options.contains("num_outputs")) o.num_outputs = static_cast<int>(o.candidates.front().size());
      for (size_t c = 0; c < o.candidates.size(); ++c)
        if (o.candidates[c].size() < 2 || static_cast<int>(o.candidates[c].size()) != o.num_outputs)
          fail(candidates->parts[c].offset, fmt::format("Expected {} factors, found {}", std::max(o.num_outputs, 2), o.candidates[c].size()));
    } else if (o.policy == "factors" || o.policy == "power2" || o.policy == "verbose") {
      if (ways(k.extent, o) > kMaxCandidates)
        fail(s_.offset, fmt::format("Expected a knob of at most {} candidates: max_factor, fewer outputs or the policy 'candidate' leave less", kMaxCandidates));
    } else {
      policy_is_none_of(o.policy, "factors, power2, verbose or candidate");
    }
    k.how = std::move(o);
  }

  /// A bound of how many splits there are, before they are made.
  static double ways(int64_t extent, const SplitOptions& o) {
    double factors = 0;
    for (const int64_t d : divisors(extent)) factors += d <= o.max_factor;
    double powers = 0;
    for (int64_t p = 1; p <= std::min(extent, o.max_factor); p *= 2) ++powers;
    const double each = o.policy == "factors" ? factors : o.policy == "power2" ? powers : factors + powers;
    double all = 1;
    for (int i = 1; i < o.num_outputs; ++i) all *= each;
    return all;
  }

  std::vector<std::string> axes(const Term& t) {
    std::vector<std::string> out;
    for (const Term& a : list(t, "the names of loops")) {
      out.push_back(word(a, "the name of a loop"));
      if (std::count(out.begin(), out.end(), out.back()) > 1) fail(a.offset, fmt::format("Expected every loop once, found '{}' again", out.back()));
    }
    if (out.size() > kMaxAxes) fail(t.offset, fmt::format("Expected at most {} loops, found {}", kMaxAxes, out.size()));
    return out;
  }
  /// Positions of loops, by name or number.
  std::vector<int> positions(const Term& t, const std::vector<std::string>& axes) {
    std::vector<int> out;
    for (const Term& a : list(t, "loops")) {
      const auto found = std::find(axes.begin(), axes.end(), a.text);
      const bool named = a.kind == Term::Kind::name || a.kind == Term::Kind::text;
      if (named && found == axes.end()) fail(a.offset, fmt::format("Expected one of the loops {}, found '{}'", fmt::join(axes, ", "), a.text));
      out.push_back(named ? static_cast<int>(found - axes.begin()) : static_cast<int>(number(a, 0, static_cast<int64_t>(axes.size()) - 1)));
    }
    return out;
  }
  std::vector<std::vector<int>> chains(const char* name, const std::vector<std::string>& axes, std::vector<int>& all) {
    std::vector<std::vector<int>> out;
    const Term* t = option(name);
    if (!t) return out;
    for (const Term& chain : list(*t, "chains of loops")) {
      out.push_back(positions(chain, axes));
      all.insert(all.end(), out.back().begin(), out.back().end());
    }
    return out;
  }
  void permutation(const std::vector<int>& order, size_t count, size_t offset) {
    std::vector<bool> seen(count);
    for (const int i : order) seen[static_cast<size_t>(i)] = true;
    if (order.size() != count || std::find(seen.begin(), seen.end(), false) != seen.end()) fail(offset, fmt::format("Expected all {} loops, each once", count));
  }

  void reorder(KnobDefinition& k) {
    ReorderOptions o;
    o.axes = k.axes = axes(s_.arguments[1]);
    o.help = k.help;
    const Term* candidates = option("candidate");
    o.policy = text_option("policy", candidates ? "candidate" : "identity");
    o.end = static_cast<int>(k.axes.size());
    if (error_) return;
    if (o.policy == "candidate") {
      if (!candidates) return fail(s_.offset, "Expected 'candidate' with orders of the loops for the policy 'candidate'");
      for (const Term& c : list(*candidates, "orders")) {
        o.candidates.push_back(positions(c, k.axes));
        if (!error_) permutation(o.candidates.back(), k.axes.size(), c.offset);
      }
    } else if (o.policy == "interval_all") {
      const Term* t = option("interval");
      if (!t || t->kind != Term::Kind::list || t->parts.size() != 2) return fail(s_.offset, "Expected 'interval=[first, end]' for the policy 'interval_all'");
      o.begin = static_cast<int>(number(t->parts[0], 0, o.end));
      o.end = static_cast<int>(number(t->parts[1], o.begin, o.end));
    } else if (o.policy == "interleave" || o.policy == "interleave_cuda") {
      std::vector<int> all;
      o.spatial = chains("spatial", k.axes, all);
      o.reduce = chains("reduce", k.axes, all);
      if (!error_) permutation(all, k.axes.size(), s_.offset);
    } else if (o.policy != "identity" && o.policy != "all") {
      policy_is_none_of(o.policy, "identity, all, interval_all, candidate, interleave or interleave_cuda");
    }
    k.how = std::move(o);
  }

  void annotate(KnobDefinition& k) {
    AnnotateOptions o;
    o.axes = k.axes = axes(s_.arguments[1]);
    o.help = k.help;
    const Term* candidates = option("candidate");
    o.policy = text_option("policy", candidates ? "candidate" : "try_unroll_vec");
    if (error_) return;
    if (o.policy == "candidate") {
      if (!candidates) return fail(s_.offset, "Expected 'candidate' with a word for each loop for the policy 'candidate'");
      for (const Term& c : list(*candidates, "annotations")) {
        o.candidates.emplace_back();
        for (const Term& w : list(c, "a word for each loop")) o.candidates.back().push_back(word(w, "an annotation"));
        if (o.candidates.back().size() != k.axes.size())
          fail(c.offset, fmt::format("Expected a word for each of {} loops, found {}", k.axes.size(), o.candidates.back().size()));
      }
    } else if (o.policy == "bind_gpu" || o.policy == "bind_gpu_virtual") {
      const size_t least = o.policy == "bind_gpu" ? 2 : 3;
      if (k.axes.size() < least) fail(s_.arguments[1].offset, fmt::format("Expected at least {} loops for the policy '{}', found {}", least, o.policy, k.axes.size()));
    } else {
      std::string rest = o.policy;
      while (!rest.empty()) {
        const std::string w = rest.substr(0, rest.find('_'));
        if (w != "try" && w != "none" && w != "unroll" && w != "vec")
          return policy_is_none_of(o.policy, "bind_gpu, bind_gpu_virtual, candidate, or try, none, unroll and vec joined by '_',");
        rest = w.size() == rest.size() ? "" : rest.substr(w.size() + 1);
      }
      if (std::count(o.policy.begin(), o.policy.end(), '_') > 3) policy_is_none_of(o.policy, "with each word once,");
    }
    k.how = std::move(o);
  }

  void knob(KnobDefinition& k) {
    std::vector<Json> values;
    for (const Term& v : list(s_.arguments[1], "values")) {
      if (v.kind == Term::Kind::text || v.kind == Term::Kind::name)
        values.emplace_back(v.text);
      else
        values.emplace_back(number(v, -kMaxNumber, kMaxNumber));
    }
    k.how = std::move(values);
  }

  const Script& script_;
  const Statement& s_;
  std::vector<std::string> used_;
  std::optional<Error> error_;
};

/// A value of `start` as AutoTVM's JSON has it.
std::optional<Json> start_value(const Script& script, const KnobDefinition& knob, const Term& t) {
  const auto one = [&](const Term& v) -> std::optional<Json> {
    if (knob.kind() == KnobKind::reorder && v.kind == Term::Kind::name) {
      const auto at = std::find(knob.axes.begin(), knob.axes.end(), v.text);
      if (at == knob.axes.end()) return std::nullopt;
      return Json(at - knob.axes.begin());
    }
    if (v.kind == Term::Kind::name || v.kind == Term::Kind::text) return Json(v.text);
    const auto n = value_of(script, v, {});
    return n ? std::optional<Json>(*n) : std::nullopt;
  };
  if (t.kind != Term::Kind::list) return one(t);
  Json list = Json::array();
  for (const Term& v : t.parts) {
    auto item = one(v);
    if (!item) return std::nullopt;
    list.push_back(std::move(*item));
  }
  return list;
}

/// Of a split the largest factors that are nowhere above the ones that are named, so that a start fits all shapes; of equals that with the
/// longest inner loop, none if all are above.
std::optional<Json> largest_up_to(const Knob& knob, const Json& limits) {
  if (!limits.is_array()) return std::nullopt;
  std::optional<Json> best;
  int64_t largest = 0, innermost = 0;
  for (const KnobValue& v : knob.candidates) {
    int64_t product = 1;
    bool fits = v.split.size() == limits.size();
    for (size_t i = 1; fits && i < v.split.size(); ++i) {
      fits = limits[i].is_number_integer() && v.split[i] <= limits[i].get<int64_t>();
      product *= v.split[i];
    }
    if (!fits || product < largest || (product == largest && v.split.back() <= innermost)) continue;
    largest = product;
    innermost = v.split.back();
    best = v.split;
  }
  return best;
}

}  // namespace

bool is_definition(std::string_view verb) { return verb == kSplit || verb == kReorder || verb == kAnnotate || verb == kKnob; }

Expected<KnobDefinition> knob_definition(const Script& script, const Statement& s) { return DefinitionReader(script, s).run(); }

Expected<ConfigSpace> space_of(const Script& script) {
  ConfigSpace space;
  double points = 1;
  for (const KnobDefinition& k : script.knobs) {
    if (const auto* o = std::get_if<SplitOptions>(&k.how)) space.define_split(k.name, k.extent, *o);
    if (const auto* o = std::get_if<ReorderOptions>(&k.how)) space.define_reorder(k.name, static_cast<int>(k.axes.size()), *o);
    if (const auto* o = std::get_if<AnnotateOptions>(&k.how)) space.define_annotate(k.name, static_cast<int>(k.axes.size()), *o);
    if (const auto* o = std::get_if<std::vector<Json>>(&k.how)) space.define_knob(k.name, *o, k.help);
    const size_t candidates = space.knobs().back().candidates.size();
    if (candidates == 0) return script.error(ErrorCode::parse_error, k.offset, fmt::format("Expected candidates of knob '{}', found none", k.name));
    points *= static_cast<double>(candidates);
    if (points > static_cast<double>(kMaxPoints)) return script.error(ErrorCode::resource_limit, k.offset, "Expected a space of at most 2^53 points, found more with this knob");
  }
  const auto shared = std::make_shared<const Script>(script);
  for (const Statement& r : script.requirements) {
    if (r.arguments.empty() || r.arguments.size() > 2 || (r.arguments.size() == 2 && r.arguments[1].kind != Term::Kind::text))
      return script.error(ErrorCode::parse_error, r.offset, "Expected a condition and a reason in quotes for 'require'");
    const auto first = space.get(0);
    if (const auto v = value_of(script, r.arguments[0], *first); !v && v.error().code == ErrorCode::parse_error) return v.error();
    space.add_filter(
        [shared, condition = r.arguments[0]](const ConfigEntity& e) {
          const auto v = value_of(*shared, condition, e);
          return v && *v != 0;
        },
        r.arguments.size() == 2 ? r.arguments[1].text : "a requirement of the template does not hold");
  }
  return space;
}

Expected<ConfigEntity> start_of(const Script& script, const ConfigSpace& space) {
  if (!script.start) return ConfigEntity();
  const Statement& s = *script.start;
  const auto bad = [&](size_t offset, const std::string& message) { return script.error(ErrorCode::parse_error, offset, message); };
  if (!s.arguments.empty()) return bad(s.offset, "Expected the values of knobs, as in 'start(tile_x=[-1, 8])'");
  for (const auto& [name, value] : s.options)
    if (!script.knob(name)) return bad(value.offset, fmt::format("The schedule has no knob '{}'", name));
  Json entity = Json::array();
  for (const KnobDefinition& k : script.knobs) {
    const auto it = s.options.find(k.name);
    if (it == s.options.end()) return bad(s.offset, fmt::format("Expected a value of every knob, found none of '{}'", k.name));
    auto value = start_value(script, k, it->second);
    if (value && k.kind() == KnobKind::split) value = largest_up_to(space.knobs()[static_cast<size_t>(&k - script.knobs.data())], *value);
    if (!value) return bad(it->second.offset, fmt::format("Expected a value of knob '{}'", k.name));
    entity.push_back(Json::array({k.name, knob_kind_code(k.kind()), *value}));
  }
  const auto point = space.from_json(entity);
  if (!point) return bad(s.offset, point.error().message);
  if (const std::string reason = space.filtered_reason(*point); !reason.empty()) return bad(s.offset, "Expected a point that the requirements leave, found one refused: " + reason);
  return *point;
}

}  // namespace tw::space::own
