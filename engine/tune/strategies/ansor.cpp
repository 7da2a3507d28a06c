// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/hash.h"
#include "engine/cost/cost_model.h"
#include "engine/cost/draft/draft.h"
#include "engine/lower/lower.h"
#include "engine/schedule/fingerprint.h"
#include "engine/space/sketch/choices.h"
#include "engine/tune/population.h"
#include "engine/tune/strategies/strategies.h"

namespace tw::tune {
namespace {

constexpr const char* kAnsorModel = "boosted-trees";
constexpr const char* kDrafted = "draft";
constexpr float kNoLoops = std::numeric_limits<float>::lowest();

struct AnsorOptions {
  const cost::FeatureDef* feature = nullptr;
  Json trees;  ///< the model's parameters
  space::SketchOptions sketch;
  space::DrawOptions annotate;
  BreedOptions breed;
  bool templates = true;
  bool drafts = false;
  int draft_size = 512, draft_generations = 2, draft_rounds = 2;
  double epsilon = 0.05;
  double measured = 0.2;
  int least_initial = 50;
  int first_fit = 16;
};

std::unique_ptr<cost::CostModel> ansor_model(const cost::FeatureDef& feature, const Json& trees) {
  const cost::ModelDef& def = *cost::find_model(kAnsorModel);
  return def.make(def, feature, trees);
}

class Ansor : public Strategy {
 public:
  Ansor(const StrategyInput& in, const AnsorOptions& options)
      : task_(in.task),
        options_(options),
        stop_(in.stop),
        rng_(hash_combine(in.seed, stable_hash(in.task.key))),
        workers_(in.workers != nullptr ? *in.workers : alone_),
        learned_(in.shared_model != nullptr ? *in.shared_model : own_),
        sketches_(space::sketches(in.task.dag, in.task.target, options.sketch)),
        population_(task_, sketches_, options_.annotate, workers_, stop_),
        replayed_(in.points && in.points(space::kSketchSpace)) {
    if (in.shared_model == nullptr) own_.model = ansor_model(*options_.feature, options_.trees);
  }

  std::vector<Proposal> propose(int n) override {
    told_ = Json();
    if (replayed_) return {};  // what was recorded are numbered points
    learn();
    const auto wanted = static_cast<size_t>(std::max(n, 0));
    std::vector<Member> first = initial();
    const double share = options_.epsilon * static_cast<double>(wanted);
    auto random = static_cast<size_t>(share);
    random += rng_.uniform_real() < share - std::floor(share);
    std::vector<Member> drawn;  // before they are bred
    for (size_t k = 0; k < 3 * random && !first.empty(); ++k) drawn.push_back(first[rng_.uniform(first.size())]);
    const size_t fresh = first.size();
    draft(first);
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
    if (knows()) score(batch);
    for (size_t i = 0; knows() && i < out.size(); ++i)
      if (batch[i].score != kNoLoops) out[i].prediction = records::Prediction{batch[i].score, static_cast<int64_t>(learned_.model->samples()), learned_.model->name()};
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
    if (options_.drafts) told_["drafted"] = drafted_.size();
    told_["generations"] = Json::array();
    for (const Breeding::Generation& g : population_.breeding().generations)
      told_["generations"].push_back({{"members", g.members}, {"new", g.fresh}, {"best", g.best}, {"median", g.median}});
    told_["mutations"] = Json::object();
    for (const auto& [name, m] : population_.breeding().mutations) told_["mutations"][name] = {{"tried", m.tried}, {"legal", m.legal}};
    told_["chosen"] = Json::object();
    for (const Member& m : batch) told_["chosen"][m.made_by] = told_["chosen"].value(m.made_by, 0) + 1;
  }

  /// From what is new, of this task or of others.
  void learn() {
    const size_t known = learned_.data.size();
    if (known < static_cast<size_t>(options_.first_fit) || known == learned_.model->samples()) return;
    const std::vector<cost::Dataset::Task>& tasks = learned_.data.tasks();
    if (std::none_of(tasks.begin(), tasks.end(), [](const cost::Dataset::Task& t) { return t.fastest > 0; })) return;
    static_cast<void>(learned_.model->fit(learned_.data, {rng_.next(), {}, stop_}));  // where it cannot, it knows nothing
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
    const auto rows = population_.rows(*cost::find_feature("symbols"), members);
    for (size_t i = 0; i < members.size(); ++i) members[i].score = rows[i] == nullptr ? kNoLoops : cost::draft_score(rows[i]->values, nullptr);
  }

  /// By the model, or at random before it has learned.
  void score(std::span<Member> members) {
    const auto rows = population_.rows(*options_.feature, members);
    std::vector<const cost::FeatureRows*> known;
    for (size_t i = 0; i < members.size(); ++i) {
      members[i].score = rows[i] == nullptr ? kNoLoops : static_cast<float>(rng_.uniform_real());
      if (rows[i] != nullptr) known.push_back(rows[i]);
    }
    if (!knows() || known.empty()) return;
    const auto said = learned_.model->predict(cost::FeatureMatrix(known));
    if (!said) return;
    size_t k = 0;
    for (size_t i = 0; i < members.size(); ++i)
      if (rows[i] != nullptr) members[i].score = (*said)[k++];
  }

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
  AnsorOptions options_;
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
  bool replayed_;
};

/// The model's parameters with what Ansor sets otherwise.
ParamSchema tree_params() {
  ParamSchema out = cost::find_model(kAnsorModel)->params;
  const Json other = {{"loss", "reg"}, {"max_depth", 10}, {"eta", 0.2}, {"gamma", 0.001}, {"min_child_weight", 0.0}, {"least_weight", 0.0}, {"tree_method", "hist"},
                      {"rounds", 300}, {"patience", 50}};
  for (Param& p : out)
    if (other.contains(p.name)) p.default_value = other.at(p.name);
  return out;
}

Json ansor_trees(const Json& params) {
  Json out;
  for (const Param& p : tree_params()) out[p.name] = params.at(p.name);
  return out;
}

std::unique_ptr<cost::CostModel> ansor_shared_model(const Json& params) {
  if (!params.at("shared").get<bool>()) return nullptr;
  return ansor_model(*cost::find_feature(params.at("feature").get<std::string>()), ansor_trees(params));
}

std::unique_ptr<Strategy> make_ansor(const StrategyInput& in) {
  const Json& p = in.params;
  AnsorOptions o;
  o.trees = ansor_trees(p);
  o.feature = in.shared_model != nullptr ? &in.shared_model->model->feature() : cost::find_feature(p.at("feature").get<std::string>());
  TW_ASSERT(o.feature != nullptr, "the choices of 'feature' are the table's names");
  const bool exact = p.at("exact").get<bool>();
  o.sketch = {p.at("cpu_structure").get<std::string>(), p.at("gpu_structure").get<std::string>(), exact};
  o.annotate = {p.at("max_innermost").get<int>(), p.at("max_vector").get<int>(), p.at("uneven").get<double>(), p.at("move_stages").get<bool>(), exact};
  o.breed = {p.at("population").get<int>(), p.at("generations").get<int>(), p.at("mutation").get<double>(), p.at("crossover").get<double>()};
  o.templates = p.at("templates").get<bool>();
  o.drafts = p.at("draft").get<bool>();
  o.draft_size = p.at("draft_size").get<int>();
  o.draft_generations = p.at("draft_generations").get<int>();
  o.draft_rounds = p.at("draft_rounds").get<int>();
  o.epsilon = p.at("epsilon").get<double>();
  o.measured = p.at("measured").get<double>();
  o.least_initial = p.at("least_initial").get<int>();
  o.first_fit = p.at("first_fit").get<int>();
  return std::make_unique<Ansor>(in, o);
}

}  // namespace

StrategyDef ansor_strategy() {
  constexpr auto kInt = Param::Kind::integer;
  constexpr auto kReal = Param::Kind::real;
  std::vector<std::string> features;
  for (const cost::FeatureDef& f : cost::features())
    if (std::string_view(f.name) != "knob") features.push_back(f.name);
  ParamSchema params = {
      flag_param("exact", false, "as TVM 0.9 does it: lengths divide, and nothing but its own rules"),
      flag_param("templates", true, "half of what is drawn are points of the task's templates; never with exact"),
      number_param("population", kInt, 512, "schedules of a generation", 2, 65536),
      number_param("generations", kInt, 4, "that are bred for each round", 0, 100),
      number_param("mutation", kReal, 0.85, "share of the children that are changed", 0, 1),
      number_param("crossover", kReal, 0.0, "of those, share that takes the numbers of two parents", 0, 1),
      flag_param("draft", false, "a formula, which needs no trials, breeds schedules first, and the model begins with its best, as Pruner does"),
      number_param("draft_size", kInt, 512, "schedules that are drafted", 1, 65536),
      number_param("draft_generations", kInt, 2, "that are bred for a draft", 0, 100),
      number_param("draft_rounds", kInt, 2, "rounds of a task that a draft serves", 1, 1000),
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
      flag_param("shared", true, "one model learns from all tasks of a session"),
      choice_param("feature", "ansor", "what the model sees of a candidate", features)};
  for (const Param& p : tree_params()) params.push_back(p);
  return {"ansor",
          std::move(params),
          make_ansor,
          nullptr,
          "Derives sketches from what stages read, draws their numbers at random, and breeds schedules whose cost a model of boosted trees predicts from their statements. "
          "It needs no template, so it tunes what has none; beside sketches it begins with points of the templates that there are, and with the schedule by rule. Other than TVM's it lets lengths "
          "not divide, and blocks have more threads than 64 where nothing is tiled.",
          "Zheng et al., \"Ansor: generating high-performance tensor programs for deep learning\", OSDI 2020; parameters of TVM 0.9's SketchPolicy; drafts: Qiao et al., \"Pruner\", arXiv 2402.02361",
          ansor_shared_model};
}

}  // namespace tw::tune
