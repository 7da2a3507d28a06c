// SPDX-License-Identifier: Apache-2.0
#include "engine/tune/sketch_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/hash.h"
#include "engine/cost/draft/draft.h"
#include "engine/cost/pretrained.h"
#include "engine/lower/lower.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"
#include "engine/tune/population.h"

namespace tw::tune {
namespace {

/// What stands in for a model whose process cannot be had.
constexpr const char* kStandIn = "boosted-trees";
constexpr const char* kDrafted = "draft";
/// As `model_file`: what comes with the program.
constexpr const char* kWithProgram = "pretrained";
constexpr const char* kOwnFormula = "own";
constexpr const char* kDraftFeature = "symbols";
constexpr float kNoLoops = std::numeric_limits<float>::lowest();

struct SketchSearchOptions {
  const cost::FeatureDef* feature = nullptr;
  space::SketchOptions sketch;
  space::DrawOptions annotate;
  BreedOptions breed;
  bool templates = true;
  bool drafts = false, learns = true;
  bool overlaps = false;  ///< fits run while a round is measured
  const cost::DraftDevice* draft_device = nullptr;  ///< null: our own formula
  int draft_size = 512, draft_generations = 2, draft_rounds = 2;
  double epsilon = 0.05;
  double measured = 0.2;
  int least_initial = 50;
  int first_fit = 16;
};

class SketchSearch : public Strategy {
 public:
  /// `own`: its model, unless tasks share one.
  SketchSearch(const StrategyInput& in, const SketchSearchOptions& options, std::unique_ptr<cost::CostModel> own)
      : task_(in.task),
        options_(options),
        stop_(in.stop),
        rng_(hash_combine(in.seed, stable_hash(in.task.key))),
        workers_(in.workers != nullptr ? *in.workers : alone_),
        learned_(in.shared_model != nullptr ? *in.shared_model : own_),
        sketches_(space::sketches(in.task.dag, in.task.target, options.sketch)),
        population_(task_, sketches_, options_.annotate, workers_, stop_),
        replayed_(in.points && in.points(space::kSketchSpace)) {
    own_.model = std::move(own);
  }

  std::vector<Proposal> propose(int n) override {
    told_ = Json();
    if (replayed_) return {};  // what was recorded are numbered points
    note_.clear();
    end_learning();  // of what was fitted while the last round was measured
    if (!options_.overlaps) begin_learning();
    const auto wanted = static_cast<size_t>(std::max(n, 0));
    std::vector<Member> first = initial();
    const double share = options_.epsilon * static_cast<double>(wanted);
    auto random = static_cast<size_t>(share);
    random += rng_.uniform_real() < share - std::floor(share);
    std::vector<Member> drawn;  // before they are bred
    for (size_t k = 0; k < 3 * random && !first.empty(); ++k) drawn.push_back(first[rng_.uniform(first.size())]);
    const size_t fresh = first.size();
    draft(first);
    end_learning();
    for (const Member& m : elite_)
      if (m.steps) first.push_back(m);
    const size_t elites = first.size() - fresh - drafted_.size();
    const std::vector<Member> best =
        population_.evolve(std::move(first), 2 * wanted, options_.breed, [this](std::span<Member> members) { score(members); }, taken_, rng_);

    std::vector<Member> batch;
    std::vector<Proposal> out;
    size_t next_best = 0, next_drawn = 0;
    const auto take = [&](const std::vector<Member>& from, size_t& next) {
      while (next < from.size()) {
        const Member& m = from[next++];
        if (!taken_.insert(m.identity).second) continue;
        auto p = proposal(m);
        if (!p || !proposed_.insert(p->candidate.fingerprint).second) continue;
        batch.push_back(m);
        out.push_back(*std::move(p));
        return true;
      }
      return false;
    };
    while (batch.size() < wanted) {
      const bool greedy = batch.size() + random < wanted;
      const bool found = greedy ? take(best, next_best) || take(drawn, next_drawn) : take(drawn, next_drawn) || take(best, next_best);
      if (!found) break;
    }
    tell(fresh, elites, batch);
    tell_scores(batch);
    if (knows()) score(batch);
    for (size_t i = 0; knows() && i < out.size(); ++i)
      if (batch[i].score != kNoLoops) out[i].prediction = records::Prediction{batch[i].score, static_cast<int64_t>(learned_.model->samples()), learned_.model->name()};
    if (options_.overlaps) begin_learning();
    return out;
  }

  void observe(std::span<const records::Record> records) override {
    std::vector<Member> members;
    std::vector<uint64_t> fingerprints;
    std::vector<double> speeds;
    for (const records::Record& r : records) {
      if (r.candidate.steps.empty() && !r.candidate.is_default()) continue;
      const bool own = r.candidate.space == space::kSketchSpace;
      Member m = population_.known(r.candidate.steps, own ? space::sketch_of(r.candidate.config) : r.candidate.space);
      if (!m.steps) continue;
      const auto s = population_.schedule_of(m);
      const uint64_t fingerprint = s ? schedule::fingerprint(*s) : m.identity;
      taken_.insert(m.identity);
      proposed_.insert(fingerprint);
      if (r.candidate.fingerprint != 0) proposed_.insert(r.candidate.fingerprint);  // as it was measured, which may have other constants laid out
      if (!r.result.ok() && !records::blames_candidate(r.result.status)) continue;
      const double seconds = r.result.seconds();
      const double speed = r.result.ok() && seconds > 0 ? 1 / seconds : 0;
      const bool parent = speed > 0 && (own || !options_.annotate.exact);
      members.push_back(m);
      fingerprints.push_back(fingerprint);
      speeds.push_back(speed);
      if (parent) measured_.emplace_back(speed, std::move(m));
    }
    const auto rows = population_.rows(*options_.feature, members);
    for (size_t i = 0; i < members.size(); ++i) {
      if (rows[i] == nullptr) continue;
      if (learned_.learned.insert(hash_combine(stable_hash(task_.key), fingerprints[i])).second) learned_.data.add(task_.key, *rows[i], speeds[i]);
    }
    std::stable_sort(measured_.begin(), measured_.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    const auto most = static_cast<size_t>(options_.measured * options_.breed.population);
    if (measured_.size() > most) measured_.resize(most);
    elite_.clear();
    for (const auto& [speed, m] : measured_) elite_.push_back(m);
  }

  Json told() const override { return told_; }
  int64_t capacity() const override { return int64_t{1} << 40; }
  std::vector<SearchedSpace> spaces() const override { return {{space::kSketchSpace, 0}}; }

 private:
  bool knows() const { return learned_.model->samples() > 0; }

  /// Of a round: what breeding began with, what became of each generation, what mutations did, and what the chosen ones come from.
  void tell(size_t drawn, size_t elites, std::span<const Member> batch) {
    told_ = {{"model", knows()}, {"drawn", drawn}, {"elites", elites}};
    if (const Json fit = learned_.model->told(); !fit.is_null()) told_["fit"] = fit;
    if (!note_.empty()) told_["note"] = note_;
    if (options_.drafts) told_["drafted"] = drafted_.size();
    told_["generations"] = Json::array();
    for (const Breeding::Generation& g : population_.breeding().generations)
      told_["generations"].push_back({{"members", g.members}, {"new", g.fresh}, {"best", g.best}, {"median", g.median}});
    told_["mutations"] = Json::object();
    for (const auto& [name, m] : population_.breeding().mutations) told_["mutations"][name] = {{"tried", m.tried}, {"legal", m.legal}};
    told_["chosen"] = Json::object();
    for (const Member& m : batch) told_["chosen"][m.made_by] = told_["chosen"].value(m.made_by, 0) + 1;
  }

  /// What the draft's formula says of each of the round's candidates, in their order; null of what has no loops.
  void tell_scores(std::vector<Member> batch) {
    if (!options_.drafts) return;
    estimate(batch);
    told_["drafts"] = Json::array();
    for (const Member& m : batch) told_["drafts"].push_back(m.score == kNoLoops ? Json() : Json(m.score));
  }

  /// From what is new, of this task or of others. A model that another process fits learns while this one draws and drafts, when nothing is measured; where the processor is
  /// not what is measured, while the round is.
  void begin_learning() {
    const size_t known = learned_.data.size();
    if ((!options_.learns && learned_.model->def().apart) || known < static_cast<size_t>(options_.first_fit) || known == learned_.model->samples()) return;
    const std::vector<cost::Dataset::Task>& tasks = learned_.data.tasks();
    if (std::none_of(tasks.begin(), tasks.end(), [](const cost::Dataset::Task& t) { return t.fastest > 0; })) return;
    const auto fit = [model = learned_.model.get(), stop = stop_, seed = rng_.next()](const cost::Dataset& data) { return model->fit(data, {seed, {}, stop}); };
    if (learned_.model->def().apart)
      learned_.fitting = std::async(std::launch::async, [fit, data = learned_.data] { return fit(data); });
    else
      static_cast<void>(fit(learned_.data));  // where it cannot, it knows nothing
  }
  void end_learning() {
    if (!learned_.fitting.valid()) return;
    if (const Expected<void> done = learned_.fitting.get(); !done) fall_back(done.error());
  }
  /// The search goes on, and says with what.
  void fall_back(const Error& e) {
    if (stop_.stop_requested()) return;
    const std::string reason = e.notes.empty() ? e.message : fmt::format("{}; {}", e.message, e.notes.front());
    if (e.code == ErrorCode::not_found || e.code == ErrorCode::infrastructure) {
      const cost::ModelDef& trees = *cost::find_model(kStandIn);
      note_ = fmt::format("{}: '{}' stands in for '{}' from now on", reason, trees.name, learned_.model->def().name);
      learned_.model = trees.make(trees, *options_.feature, *resolve_params(trees.params, {{"loss", "reg"}, {"tree_method", "hist"}, {"rounds", 300}}));
      begin_learning();
    } else if (knows()) {
      note_ = fmt::format("{}: the search goes on with what '{}' learned from {} trials", reason, learned_.model->def().name, learned_.model->samples());
    } else {
      note_ = fmt::format("{}: until '{}' is fitted, the search goes on {}", reason, learned_.model->def().name, options_.drafts ? "by the draft's formula" : "at random");
    }
  }

  /// What a generation begins with: as many draws as make `least_initial` schedules, fewer where so many cannot be found.
  std::vector<Member> initial() {
    constexpr int kInVain = 5;
    std::vector<Member> out;
    std::unordered_set<uint64_t> met = taken_;
    for (int in_vain = 0; static_cast<int>(out.size()) < options_.least_initial && in_vain < kInVain && !stop_.stop_requested();) {
      const size_t before = out.size();
      for (Member& m : population_.draw(options_.breed.population, options_.templates && !options_.annotate.exact, rng_))
        if (met.insert(m.identity).second) out.push_back(std::move(m));
      in_vain = out.size() == before ? in_vain + 1 : in_vain;
    }
    return out;
  }

  /// Puts before what was drawn the best that a formula finds by breeding from it; every so many rounds anew.
  void draft(std::vector<Member>& first) {
    if (!options_.drafts) return;
    if (round_++ % options_.draft_rounds == 0) {
      BreedOptions breed = options_.breed;
      breed.generations = options_.draft_generations;
      drafted_ = population_.evolve(first, static_cast<size_t>(options_.draft_size), breed, [this](std::span<Member> members) { estimate(members); }, taken_, rng_);
      for (Member& m : drafted_) m.made_by = kDrafted;
    }
    first.insert(first.begin(), drafted_.begin(), drafted_.end());
  }
  void estimate(std::span<Member> members) {
    const auto rows = population_.rows(*cost::find_feature(kDraftFeature), members);
    for (size_t i = 0; i < members.size(); ++i) members[i].score = rows[i] == nullptr ? kNoLoops : cost::draft_score(rows[i]->values, options_.draft_device);
  }

  /// By the model; before it has learned by the draft's formula, or at random without.
  void score(std::span<Member> members) {
    if (!knows() && options_.drafts) return estimate(members);
    const auto rows = population_.rows(*options_.feature, members);
    std::vector<const cost::FeatureRows*> known;
    for (size_t i = 0; i < members.size(); ++i) {
      members[i].score = rows[i] == nullptr ? kNoLoops : static_cast<float>(rng_.uniform_real());
      if (rows[i] != nullptr) known.push_back(rows[i]);
    }
    if (!knows() || known.empty()) return;
    const auto said = learned_.model->predict(cost::FeatureMatrix(known));
    if (!said) return fall_back(said.error());
    size_t k = 0;
    for (size_t i = 0; i < members.size(); ++i)
      if (rows[i] != nullptr) members[i].score = learned_.model->def().apart ? positive((*said)[k++]) : (*said)[k++];
  }

  /// Scores of networks have no zero, but parents are drawn in proportion to them: the same order, above it.
  static float positive(float score) { return score > 0 ? score + std::log1p(std::exp(-score)) : std::log1p(std::exp(score)); }

  std::optional<Proposal> proposal(const Member& m) const {
    const auto s = population_.schedule_of(m);
    if (!s) return std::nullopt;
    // What tensor cores ask of loops, limits do not know to the last.
    const bool by_warps = std::any_of(s->stages().begin(), s->stages().end(), [](const schedule::Stage& st) { return st.warp_product.has_value(); });
    if (by_warps && !lower::lower(*s, "candidate")) return std::nullopt;
    Proposal p;
    p.candidate.space = space::kSketchSpace;
    p.candidate.config = space::choices_of(*s, m.sketch);
    p.candidate.steps = s->steps();
    p.candidate.fingerprint = schedule::fingerprint(*s);
    return p;
  }

  const records::Task& task_;
  SketchSearchOptions options_;
  StopToken stop_;
  Rng rng_;
  WorkerPool alone_{1};
  WorkerPool& workers_;
  cost::SharedModel own_;  ///< unless the input has one
  cost::SharedModel& learned_;
  std::vector<space::Sketch> sketches_;
  Population population_;
  std::vector<Member> drafted_;                      ///< best first
  int round_ = 0;
  std::vector<std::pair<double, Member>> measured_;  ///< with their speeds, fastest first
  std::vector<Member> elite_;                        ///< the same without
  std::unordered_set<uint64_t> taken_;               ///< identities of what was proposed or observed
  std::unordered_set<uint64_t> proposed_;            ///< their fingerprints
  Json told_;                                        ///< of the last proposal
  std::string note_;                                 ///< for people, of the same
  bool replayed_;
};

const cost::ModelDef& model_of(const SketchParts& parts, bool gpu) { return *cost::find_model(gpu ? parts.gpu_model : parts.model); }

/// The models' parameters, each name once.
ParamSchema model_params(const SketchParts& parts) {
  ParamSchema out;
  for (const bool gpu : {false, true})
    for (const Param& p : model_of(parts, gpu).params)
      if (std::none_of(out.begin(), out.end(), [&](const Param& o) { return o.name == p.name; })) out.push_back(p);
  return out;
}

/// Those of one model out of the tuner's.
Json params_of(const cost::ModelDef& def, const Json& params) {
  Json out = Json::object();
  for (const Param& p : def.params) out[p.name] = params.at(p.name);
  if (!params.value("paper_exact", false)) return out;
  const Json exact = {{"update_epochs", 0}, {"across_tasks", true}, {"batch_statistics", true}, {"standardises", false}, {"least_steps", 0}, {"average", 0.0}, {"batch", 512}};
  for (const auto& [name, value] : exact.items())
    if (out.contains(name)) out[name] = value;
  return out;
}

const cost::FeatureDef& feature_of(const SketchParts& parts, const Json& params) {
  const cost::FeatureDef* found = cost::find_feature(parts.feature != nullptr ? parts.feature : params.at("feature").get<std::string>());
  TW_ASSERT(found != nullptr, "the choices of 'feature' are the table's names");
  return *found;
}

/// A model that knows nothing, or what a file holds.
Expected<std::unique_ptr<cost::CostModel>> own_model(const SketchParts& parts, const Json& params, const Target& target) {
  const cost::ModelDef& def = model_of(parts, target.gpu.has_value());
  const cost::FeatureDef& feature = feature_of(parts, params);
  std::string file = parts.feature != nullptr ? params.at("model_file").get<std::string>() : std::string();
  if (file == kWithProgram || (file.empty() && parts.begins_with)) {
    const auto found = cost::find_pretrained(def, target, parts.begins_with.value_or(cost::PretrainedFor::itself));
    if (!found) return Error(found.error()).note("`tw dataset train` makes one, which the tuner's parameter 'model_file' names");
    file = *found;
  }
  if (!file.empty()) return cost::load_model_as(file, def, feature, params_of(def, params));
  return def.make(def, feature, params_of(def, params));
}

}  // namespace

Json pruner_defaults() {
  return {{"draft", true}, {"draft_size", 512}, {"draft_generations", 2}, {"draft_rounds", 2}, {"population", 1536}, {"generations", 1}, {"epsilon", 0.1}, {"measured", 0.1}};
}

ParamSchema sketch_params(const SketchParts& parts) {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  std::vector<std::string> formulas = {kOwnFormula};
  for (const cost::DraftDevice& d : cost::draft_devices()) formulas.push_back(d.name);
  ParamSchema out = {
      flag_param("exact", false, "as TVM 0.9 does it: lengths divide, and nothing but its own rules"),
      flag_param("templates", true, "half of what is drawn are points of the task's templates; never with exact"),
      number_param("population", kInt, 512, "schedules of a generation; fewer, like those drafted and begun with, of kernels with more than 32 stages", 2, 65536),
      number_param("generations", kInt, 4, "that are bred for each round", 0, 100),
      number_param("mutation", kReal, 0.85, "share of the children that are changed", 0, 1),
      number_param("crossover", kReal, 0.0, "of those, share that takes the numbers of two parents", 0, 1),
      flag_param("draft", false, "a formula, which needs no trials, breeds schedules first, and the model begins with its best, as Pruner does"),
      number_param("draft_size", kInt, 512, "schedules that are drafted", 1, 65536),
      number_param("draft_generations", kInt, 2, "that are bred for a draft", 0, 100),
      number_param("draft_rounds", kInt, 2, "rounds of a task that a draft serves", 1, 1000),
      choice_param("draft_formula", kOwnFormula, "that drafts: our own, or that of Pruner's release with one of its GPUs", formulas),
      number_param("epsilon", kReal, 0.05, "share of each round that is drawn at random", 0, 1),
      number_param("measured", kReal, 0.2, "of a generation, share of the fastest that were measured and are bred from again", 0, 1),
      number_param("least_initial", kInt, 50, "random schedules to begin a round with", 1, 65536),
      number_param("first_fit", kInt, 16, "trials before the model is fitted; after that it is before every round", 1, 4096),
      choice_param("cpu_structure", "SSRSRS", "levels of tiles on processors, outermost first: S spatial loops, R those of the reduction",
                   {"SSRSRS", "SRS", "SSRS", "SRSRS", "SSRSRSRS"}),
      choice_param("gpu_structure", "SSSRRSRS", "the same on GPUs, where the first three are blocks, virtual threads and threads",
                   {"SSSRRSRS", "SSSRSRS", "SSSRS"}),
      number_param("max_innermost", kInt, 64, "iterations of an innermost loop", 1, 4096),
      number_param("max_vector", kInt, 16, "iterations of a vectorised loop", 1, 1024),
      number_param("uneven", kReal, 0.15, "share of splits whose lengths need not divide the loop's; none with exact", 0, 1),
      flag_param("move_stages", true, "on processors, stages that are not tiled are computed wherever they can be"),
      flag_param("shared", true, "one model learns from all tasks of a session")};
  if (parts.feature == nullptr) {
    std::vector<std::string> features;
    for (const cost::FeatureDef& f : cost::features())
      if (std::string_view(f.name) != "knob") features.push_back(f.name);
    out.push_back(choice_param("feature", "ansor", "what the model sees of a candidate", features));
  } else {
    out.push_back(text_param("model_file", "", parts.begins_with ? "a saved model to begin with, as `tw dataset train` writes it; empty: the one that comes with the program" : "a saved model to begin with, as `tw dataset train` writes it; pretrained: the one that comes with the program for this device; empty: it begins with nothing"));
    out.push_back(flag_param("overlaps", true, "for GPUs, fits run while a round is measured, and the next one is proposed by what was known before it; on processors they never do"));
    out.push_back(flag_param("learns", parts.learns, "the model learns from what is measured"));
    out.push_back(flag_param("paper_exact", false, "as the papers' code does it: fits from nothing, pairs of different tasks, and normalisation by the candidates themselves"));
  }
  for (const Param& p : model_params(parts)) out.push_back(p);
  const Json other = parts.defaults();
  for (Param& p : out)
    if (other.contains(p.name)) p.default_value = other.at(p.name);
  return out;
}

Expected<std::unique_ptr<cost::CostModel>> sketch_model(const SketchParts& parts, const Json& params, const Target& target) {
  if (!params.at("shared").get<bool>()) return std::unique_ptr<cost::CostModel>();
  return own_model(parts, params, target);
}

std::unique_ptr<Strategy> make_sketch_search(const SketchParts& parts, const StrategyInput& in) {
  const Json& p = in.params;
  // Drawing, changing and describing a schedule takes time that grows about as the square of its stages: sorting, with a hundred, has fewer schedules.
  constexpr double kUsualStages = 32;
  const double share = std::min(1.0, std::pow(kUsualStages / static_cast<double>(in.task.dag->ops.size()), 2));
  const auto many = [&](const char* name) { return std::max(2, static_cast<int>(share * p.at(name).get<int>())); };
  SketchSearchOptions o;
  o.feature = in.shared_model != nullptr ? &in.shared_model->model->feature() : &feature_of(parts, p);
  const bool exact = p.at("exact").get<bool>();
  o.sketch = {p.at("cpu_structure").get<std::string>(), p.at("gpu_structure").get<std::string>(), exact};
  o.annotate = {p.at("max_innermost").get<int>(), p.at("max_vector").get<int>(), p.at("uneven").get<double>(), p.at("move_stages").get<bool>(), exact};
  o.breed = {many("population"), p.at("generations").get<int>(), p.at("mutation").get<double>(), p.at("crossover").get<double>()};
  o.templates = p.at("templates").get<bool>();
  o.drafts = p.at("draft").get<bool>();
  o.learns = p.value("learns", true);
  o.overlaps = in.task.target.gpu && p.value("overlaps", false) && !p.value("paper_exact", false);
  o.draft_device = cost::find_draft_device(p.at("draft_formula").get<std::string>());
  o.draft_size = many("draft_size");
  o.draft_generations = p.at("draft_generations").get<int>();
  o.draft_rounds = p.at("draft_rounds").get<int>();
  o.epsilon = p.at("epsilon").get<double>();
  o.measured = p.at("measured").get<double>();
  o.least_initial = many("least_initial");
  o.first_fit = p.at("first_fit").get<int>();
  std::unique_ptr<cost::CostModel> own;
  if (in.shared_model == nullptr) {
    const cost::ModelDef& def = model_of(parts, in.task.target.gpu.has_value());
    auto made = own_model(parts, p, in.task.target);
    own = made ? *std::move(made) : def.make(def, *o.feature, params_of(def, p));  // a session is told of a file that cannot be read; a search alone begins with nothing
  }
  return std::make_unique<SketchSearch>(in, o, std::move(own));
}

}  // namespace tw::tune
