// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "engine/base/hash.h"
#include "engine/cost/pretrained.h"
#include "engine/lower/lower.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"
#include "engine/space/sketch/limits.h"
#include "engine/space/sketch/packing.h"
#include "engine/tune/candidate.h"
#include "engine/tune/seed_descent.h"
#include "engine/tune/sketch_search.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {
namespace {

constexpr const char *kFelixModel = "felix", *kSearchBeside = "ansor", *kBeginsWithNothing = "none";
constexpr const char *kDescended = "descent", *kBeside = "beside the best", *kSeed = "seed";
constexpr int kNear = 4;  ///< steps from a place beside the best

struct FelixOptions {
  DescentOptions descent;
  space::SketchOptions sketch;
  space::DrawOptions annotate;
  int steps = 64, later_steps = 16;
  double epsilon = 0, others = 0.5, kept = 0.5;
  int first_fit = 32;
  bool learns = true;
};

/// What of a round's ways is kept for people: means of the objective over steps, and the ways of the seeds that what was chosen comes from.
Json descent_told(const DescentTrace::Sketch& s, std::span<const DescentCandidate> chosen, size_t number) {
  constexpr size_t kWays = 8;
  const auto short_number = [](double v) { return std::round(v * 1000) / 1000; };
  const DescentTrace::Rounding& r = s.rounding;
  Json out = {{"sketch", s.name},
              {"seeds", s.seeds},
              {"steps", s.steps},
              {"variables", s.variables},
              {"most", s.most},
              {"drawn_anew", s.drawn_anew},
              {"rounded", {{"points", r.points}, {"different", r.different}, {"allowed", r.allowed}, {"legal", r.legal}, {"fresh", r.fresh}}}};
  for (const auto& [name, values] : {std::pair("score", &s.scores), std::pair("penalty", &s.penalties)}) {
    out[name] = Json::array();
    for (size_t t = 0; s.seeds > 0 && (t + 1) * s.seeds <= values->size(); ++t) {
      double sum = 0;
      for (size_t b = 0; b < s.seeds; ++b) sum += (*values)[t * s.seeds + b];
      out[name].push_back(short_number(sum / static_cast<double>(s.seeds)));
    }
  }
  out["chosen"] = Json::array();
  out["ways"] = Json::object();
  for (const DescentCandidate& c : chosen) {
    if (c.sketch != number) continue;
    out["chosen"].push_back({{"seed", c.seed}, {"step", c.step}, {"at", c.exponents}, {"score", c.score}});
    const std::string seed = std::to_string(c.seed);
    if (out["ways"].size() >= kWays || out["ways"].contains(seed)) continue;
    Json way = Json::array();
    const size_t variables = s.variables.size();
    for (size_t t = 0; t <= s.steps; ++t) {
      Json point = Json::array();
      for (size_t v = 0; v < variables; ++v) point.push_back(short_number(s.points[(t * s.seeds + static_cast<size_t>(c.seed)) * variables + v]));
      way.push_back(std::move(point));
    }
    out["ways"][seed] = std::move(way);
  }
  return out;
}

class Felix : public Strategy {
 public:
  Felix(const StrategyInput& in, const FelixOptions& options, std::unique_ptr<cost::CostModel> own)
      : in_(in),
        task_(in.task),
        options_(options),
        rng_(hash_combine(in.seed, stable_hash(in.task.key))),
        workers_(in.workers != nullptr ? *in.workers : alone_),
        learned_(in.shared_model != nullptr ? *in.shared_model : own_),
        replayed_(in.points && in.points(space::kSketchSpace)) {
    own_.model = std::move(own);
    DescentSketches sketches = descent_sketches(task_, options.sketch, options.annotate);
    left_out_ = std::move(sketches.left_out);
    descent_.emplace(task_.target, std::move(sketches.all), options.descent);
    // As long as nothing was measured, the best that is known.
    if (const Place untuned = place_of(space::without_packing(*task_.dag, default_candidate(task_).steps)); untuned.known) keep(untuned, std::numeric_limits<double>::infinity());
  }

  std::vector<Proposal> propose(int n) override {
    told_ = Json();
    if (replayed_ || n <= 0) return {};  // what was recorded are numbered points
    note_.clear();
    learn();
    const auto wanted = static_cast<size_t>(n);
    const bool no_descent = descent_->sketches().empty() || (!knows() && missing_);
    size_t others = no_descent ? wanted : left_out_.empty() ? 0 : std::max<size_t>(1, static_cast<size_t>(options_.others * static_cast<double>(wanted)));
    others = std::min(others, wanted);
    std::vector<Proposal> out;
    std::map<std::string, int> chosen;
    if (others < wanted) descend(wanted - others, out, chosen);
    const size_t own = out.size();
    if (others > 0) {
      for (Proposal& p : other().propose(static_cast<int>(others))) {
        if (!p.refused.empty() || !proposed_.insert(p.candidate.fingerprint).second) continue;
        ++chosen[kSearchBeside];
        out.push_back(std::move(p));
      }
    }
    tell(own, chosen);
    return out;
  }

  void observe(std::span<const records::Record> records) override {
    for (const records::Record& r : records) {
      if (r.candidate.steps.empty() && !r.candidate.is_default()) continue;
      const auto s = schedule::Schedule::replay(task_.dag, r.candidate.steps);
      if (!s) continue;
      proposed_.insert(schedule::fingerprint(*s));
      if (r.candidate.fingerprint != 0) proposed_.insert(r.candidate.fingerprint);
      const std::vector<schedule::Step> steps = space::without_packing(*task_.dag, r.candidate.steps);
      const Place place = place_of(steps);
      if (place.known) taken_.insert(descent_->sketches()[place.sketch].identity(place.numbers));
      if (!r.result.ok() || !(r.result.seconds() > 0)) continue;  // a logarithm of no speed there is not
      const uint64_t key = hash_combine(stable_hash(task_.key), schedule::fingerprint(*s));
      if (place.known && kept_.insert(key).second) keep(place, r.result.seconds());
      if (!learned_.learned.insert(key).second) continue;  // by the strategy of a session that goes on with this model
      auto rows = place.exponents ? Expected<cost::FeatureRows>(descent_->sketches()[place.sketch].rows(*place.exponents))
                                  : feature().extract({.dag = task_.dag, .target = task_.target, .steps = &steps});
      if (rows && std::all_of(rows->values.begin(), rows->values.end(), [](float v) { return std::isfinite(v); })) learned_.data.add(task_.key, *std::move(rows), 1 / r.result.seconds());
    }
    if (other_)
      other_->observe(records);
    else
      seen_.insert(seen_.end(), records.begin(), records.end());
  }

  Json told() const override { return told_; }
  int64_t capacity() const override { return int64_t{1} << 40; }
  std::vector<SearchedSpace> spaces() const override { return {{space::kSketchSpace, 0}}; }

 private:
  /// Where a schedule is in the descent's sketches.
  struct Place {
    bool known = false;
    size_t sketch = 0;
    std::vector<int64_t> numbers = {};
    std::optional<std::vector<int>> exponents = {};
  };
  struct Measured {
    double seconds;
    size_t sketch;
    std::vector<double> exponents;
  };

  Place place_of(const std::vector<schedule::Step>& steps) const {
    const auto sketches = descent_->sketches();
    const uint64_t structure = space::structure_of(steps);
    Place out{.numbers = space::numbers_of(steps)};
    for (; out.sketch < sketches.size(); ++out.sketch) {
      if (sketches[out.sketch].structure != structure) continue;
      out.known = true;
      out.exponents = sketches[out.sketch].space.encode(out.numbers);
      break;
    }
    return out;
  }
  void keep(const Place& place, double seconds) {
    Measured m{seconds, place.sketch, descent_->sketches()[place.sketch].space.near(place.numbers)};
    best_.insert(std::upper_bound(best_.begin(), best_.end(), m, [](const Measured& a, const Measured& b) { return a.seconds < b.seconds; }), std::move(m));
  }

  bool knows() const { return learned_.model->samples() > 0; }
  const cost::FeatureDef& feature() const { return learned_.model->feature(); }

  /// The search of what no descent can express.
  Strategy& other() {
    if (!other_) {
      const StrategyDef& def = *find_strategy(kSearchBeside);
      StrategyInput in = in_;
      in.params = *resolve_params(def.params, {{"templates", false}});  // sketches and the untuned schedule, as the descent has them
      if (in_.shared_model != nullptr && !learned_.beside) {
        auto model = def.shared_model(in.params, task_.target);
        if (model && *model) learned_.beside.reset(new cost::SharedModel{*std::move(model)});
      }
      in.shared_model = learned_.beside.get();
      other_ = def.make(in);
      other_->observe(seen_);
      seen_.clear();
    }
    return *other_;
  }

  void learn() {
    const size_t known = learned_.data.size();
    if (!options_.learns || missing_ || known < static_cast<size_t>(options_.first_fit) || known == learned_.fitted_with) return;
    const size_t before = std::exchange(learned_.fitted_with, known);
    const auto done = learned_.model->fit(learned_.data, {rng_.next(), {}, in_.stop});
    if (done || in_.stop.stop_requested()) return;
    const Error& e = done.error();
    const std::string reason = e.notes.empty() ? e.message : fmt::format("{}; {}", e.message, e.notes.front());
    missing_ = e.code == ErrorCode::not_found || e.code == ErrorCode::infrastructure;
    if (missing_) learned_.fitted_with = before;  // other tasks find out, too
    if (knows())
      note_ = fmt::format("{}: the descent goes on with what '{}' learned before", reason, kFelixModel);
    else
      note_ = missing_ ? fmt::format("{}: trees have no slope to go down, so that '{}' searches the sketches from now on", reason, kSearchBeside)
                       : fmt::format("{}: until '{}' is fitted, seeds are measured as they are drawn", reason, kFelixModel);
  }

  /// Places beside the best that were measured, less than one power away along each variable, where seeds begin in their sketches.
  std::vector<std::vector<std::vector<double>>> beside_the_best() {
    const auto sketches = descent_->sketches();
    std::vector<std::vector<std::vector<double>>> out(sketches.size());
    const auto kept = static_cast<size_t>(options_.kept * options_.descent.seeds);
    for (size_t k = 0; k < kept && !best_.empty(); ++k) {
      const Measured& m = best_[k % best_.size()];
      std::vector<double> x = m.exponents;
      const auto variables = sketches[m.sketch].space.variables();
      for (size_t v = 0; v < x.size(); ++v) x[v] = std::clamp(x[v] + 2 * rng_.uniform_real() - 1, 0.0, static_cast<double>(variables[v].most));
      out[m.sketch].push_back(std::move(x));
    }
    return out;
  }

  void descend(size_t wanted, std::vector<Proposal>& out, std::map<std::string, int>& chosen) {
    const double share = options_.epsilon * static_cast<double>(wanted);
    auto random = static_cast<size_t>(share);
    random += rng_.uniform_real() < share - std::floor(share);
    trace_ = {};
    taken_now_.clear();
    const auto take = [&](std::vector<DescentCandidate>& from, size_t until, const char* by) {
      for (DescentCandidate& c : from) {
        if (out.size() >= until) return;
        if (taken_.contains(c.identity)) continue;
        auto p = proposal(c);
        taken_.insert(c.identity);
        if (!p || !proposed_.insert(p->candidate.fingerprint).second) continue;
        if (knows()) p->prediction = records::Prediction{c.score, static_cast<int64_t>(learned_.model->samples()), learned_.model->name()};
        out.push_back(*std::move(p));
        taken_now_.push_back(std::move(c));
        ++chosen[by];
      }
    };
    if (knows()) {
      const auto begin = beside_the_best();
      auto found = descent_->descend([this](const cost::FeatureMatrix& x) { return learned_.model->slopes(x); }, rounds_++ == 0 ? options_.steps : options_.later_steps, begin,
                                     taken_, rng_, workers_, in_.stop, &trace_);
      if (found) {
        // What a network says of places far from all that was measured is often wrong.
        const auto near = std::stable_partition(found->begin(), found->end(), [&](const DescentCandidate& c) { return c.step <= kNear && static_cast<size_t>(c.seed) < begin[c.sketch].size(); });
        std::vector<DescentCandidate> beside(std::make_move_iterator(found->begin()), std::make_move_iterator(near));
        found->erase(found->begin(), near);
        const size_t descended = wanted - std::min(random, wanted);
        take(beside, static_cast<size_t>(options_.kept * static_cast<double>(descended)), kBeside);
        take(*found, descended, kDescended);
        take(beside, descended, kBeside);
      } else
        note_ = found.error().message;
    }
    if (in_.stop.stop_requested() || out.size() >= wanted) return;
    auto drawn = descent_->draw(2 * (wanted - out.size()), taken_, rng_);
    if (knows() && !drawn.empty()) {
      std::vector<const cost::FeatureRows*> rows;
      for (const DescentCandidate& c : drawn) rows.push_back(&c.rows);
      if (const auto scores = learned_.model->predict(cost::FeatureMatrix(rows)))
        for (size_t i = 0; i < drawn.size(); ++i) drawn[i].score = (*scores)[i];
    }
    take(drawn, wanted, kSeed);
  }

  std::optional<Proposal> proposal(const DescentCandidate& c) const {
    const DescentSketch& sketch = descent_->sketches()[c.sketch];
    auto s = schedule::Schedule::replay(task_.dag, sketch.program.schedule().with_numbers(c.numbers));
    if (!s || !space::check_limits(*s, task_.target)) return std::nullopt;
    if (!task_.target.gpu) s = space::with_packed_constants(*std::move(s));
    if (!lower::lower(*s, "candidate")) return std::nullopt;
    Proposal p;
    p.candidate.space = space::kSketchSpace;
    p.candidate.config = space::choices_of(*s, sketch.name);
    p.candidate.steps = s->steps();
    p.candidate.fingerprint = schedule::fingerprint(*s);
    return p;
  }

  void tell(size_t own, const std::map<std::string, int>& chosen) {
    told_ = {{"model", knows()}, {"chosen", chosen}};
    if (const Json fit = learned_.model->told(); !fit.is_null()) told_["fit"] = fit;
    if (!note_.empty()) told_["note"] = note_;
    if (!left_out_.empty()) {
      told_["left_out"] = Json::array();
      for (const auto& [name, reason] : left_out_) told_["left_out"].push_back({{"sketch", name}, {"reason", reason}, {"tuner", kSearchBeside}});
    }
    if (own == 0 || trace_.sketches.empty()) return;
    told_["descent"] = Json::array();
    for (size_t k = 0; k < trace_.sketches.size(); ++k) told_["descent"].push_back(descent_told(trace_.sketches[k], taken_now_, k));
  }

  StrategyInput in_;
  const records::Task& task_;
  FelixOptions options_;
  Rng rng_;
  WorkerPool alone_{1};
  WorkerPool& workers_;
  cost::SharedModel own_;  ///< unless the input has one
  cost::SharedModel& learned_;
  std::optional<SeedDescent> descent_;
  std::vector<std::pair<std::string, std::string>> left_out_;  ///< sketches, and why no descent expresses them
  std::unique_ptr<Strategy> other_;
  std::vector<records::Record> seen_;       ///< as long as there is no other
  std::vector<Measured> best_;              ///< of the descent's sketches, best first
  std::unordered_set<uint64_t> taken_;      ///< identities of what was proposed or observed of the descent's sketches
  std::unordered_set<uint64_t> proposed_;   ///< fingerprints of all
  std::unordered_set<uint64_t> kept_;       ///< fingerprints of what best_ has
  DescentTrace trace_;                      ///< of the last round
  std::vector<DescentCandidate> taken_now_;  ///< in it
  int rounds_ = 0;
  bool missing_ = false;  ///< tw-learner
  Json told_;
  std::string note_;
  bool replayed_;
};

Json felix_model_params(const Json& params) {
  Json out = Json::object();
  for (const Param& p : cost::find_model(kFelixModel)->params) out[p.name] = params.at(p.name);
  return out;
}

Expected<std::unique_ptr<cost::CostModel>> felix_model_of(const Json& params, const Target& target) {
  const cost::ModelDef& def = *cost::find_model(kFelixModel);
  const cost::FeatureDef& feature = *cost::find_feature(def.feature);
  std::string file = params.at("model_file").get<std::string>();
  if (file.empty())
    if (const auto found = cost::find_pretrained(def, target, cost::PretrainedFor::itself)) file = *found;
  if (!file.empty() && file != kBeginsWithNothing) return cost::load_model_as(file, def, feature, felix_model_params(params));
  return def.make(def, feature, felix_model_params(params));
}

ParamSchema felix_tuner_params() {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  ParamSchema out = {number_param("seeds", kInt, 32, "of each sketch that go downhill in a round", 1, 4096),
                     number_param("steps", kInt, 64, "of a task's first round", 0, 10'000),
                     number_param("later_steps", kInt, 16, "of the others", 0, 10'000),
                     number_param("rate", kReal, 0.5, "of Adam, in powers of a length's primes", 1e-4, 10),
                     number_param("later", kReal, 0.2, "of that rate, once seeds have gone a part of their way", 0, 1),
                     number_param("turn", kReal, 0.3, "that part", 0, 1),
                     number_param("penalty", kReal, 5.0, "how many times the slope of the prediction that of exceeded limits weighs", 0, 1000),
                     number_param("kept", kReal, 0.5, "share of the seeds that begin beside the best that were measured, at first beside the untuned schedule, and of each round that is measured near them; 0: all are drawn, as in the release", 0, 1),
                     number_param("epsilon", kReal, 0.0, "share of each round that are seeds as they are drawn", 0, 1),
                     number_param("others", kReal, 0.5, "share of each round that `ansor` proposes where the descent cannot express some sketch of the task; all where it can express none", 0, 1),
                     number_param("first_fit", kInt, 32, "trials before the model is fitted, or goes on if it is a saved one, after that before every round; the release's: 256", 1, 1 << 20),
                     flag_param("learns", true, "the model learns from what is measured"),
                     text_param("model_file", "", "a saved model to begin with, as `tw dataset train` writes it; none: it begins with nothing; empty: the one that comes with the program for this device, if there is one"),
                     number_param("max_innermost", kInt, 64, "iterations of an innermost loop", 1, 4096),
                     flag_param("shared", true, "one model learns from all tasks of a session")};
  for (const Param& p : cost::find_model(kFelixModel)->params) out.push_back(p);
  return out;
}

std::unique_ptr<Strategy> make_felix_search(const StrategyInput& in) {
  const Json& p = in.params;
  FelixOptions o;
  o.descent = {p.at("seeds").get<int>(), p.at("rate").get<double>(), p.at("later").get<double>(), p.at("turn").get<double>(), p.at("penalty").get<double>()};
  o.annotate.max_innermost = p.at("max_innermost").get<int>();
  o.steps = p.at("steps").get<int>();
  o.later_steps = p.at("later_steps").get<int>();
  o.epsilon = p.at("epsilon").get<double>();
  o.kept = p.at("kept").get<double>();
  o.others = p.at("others").get<double>();
  o.first_fit = p.at("first_fit").get<int>();
  o.learns = p.at("learns").get<bool>();
  std::unique_ptr<cost::CostModel> own;
  if (in.shared_model == nullptr) {
    auto made = felix_model_of(p, in.task.target);
    const cost::ModelDef& def = *cost::find_model(kFelixModel);
    own = made ? *std::move(made) : def.make(def, *cost::find_feature(def.feature), felix_model_params(p));  // a session is told of a file that cannot be read
  }
  return std::make_unique<Felix>(in, o, std::move(own));
}

}  // namespace

StrategyDef felix_strategy() {
  return {"felix",
          felix_tuner_params(),
          make_felix_search,
          nullptr,
          "Ansor's sketches with their lengths as real powers of primes: seeds go down the slope of a neural model's prediction, held within limits by a penalty, and what they pass by is rounded, ranked "
          "and measured. On GPUs and on processors, where vectors, pieces for the cores, tiles in caches and unrolling are powers too. What cannot be written as smooth formulas, `ansor` searches beside it, and "
          "all of it without tw-learner and without a saved model.",
          "Zhao et al., \"Felix: optimizing tensor programs with gradient descent\", ASPLOS 2024, with the parameters of its release",
          [](const Json& params, const Target& target) -> Expected<std::unique_ptr<cost::CostModel>> {
            if (!params.at("shared").get<bool>()) return std::unique_ptr<cost::CostModel>();
            return felix_model_of(params, target);
          }};
}

}  // namespace tw::tune
