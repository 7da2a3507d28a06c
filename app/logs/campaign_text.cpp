// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::logs {
namespace {

std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string value_text(double v) { return fmt::format("{:.4g}", v); }
std::string knee_text(const std::optional<cost::ResourceKnee>& k) { return k ? fmt::format("{} [{}, {}]", value_text(k->at), value_text(k->low), value_text(k->high)) : "-"; }
std::string band_text(const cost::ResourceCurve& c, size_t i) { return fmt::format("{} [{}, {}]", campaign_rate(c.middle[i]), campaign_rate(c.low[i]), campaign_rate(c.high[i])); }
std::string tenths(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string points_text(const cost::StudyGain& g) { return fmt::format("{:+.1f} % [{:+.1f}, {:+.1f}]", 100 * g.mean, 100 * g.low, 100 * g.high); }
std::string times_text(const cost::StudyGain& g) { return fmt::format("{:.2f}x [{:.2f}, {:.2f}]", g.mean, g.low, g.high); }
std::string surely_text(cost::Surely s) { return s == cost::Surely::helps ? "helps" : s == cost::Surely::harms ? "harms" : "open"; }

size_t most_important(const CampaignSeries& s) {
  size_t most = 0;
  for (size_t i = 1; i < s.effects.effects.size(); ++i)
    if (s.effects.effects[i].importance > s.effects.effects[most].importance) most = i;
  return most;
}

}  // namespace

std::string campaign_rate(double flops) { return flops > 0 ? si_text(flops, "FLOP/s") : "-"; }

std::string campaign_answer(const Campaign& campaign) {
  struct Most {
    std::vector<std::string> devices;
    double low = 1, high = 0;  ///< shares
  };
  std::map<std::pair<std::string, std::string>, Most> by_resource;  ///< of an operator
  for (const CampaignSeries& s : campaign.series) {
    const size_t most = most_important(s);
    Most& m = by_resource[{s.name, s.table.resources[most].name}];
    m.devices.push_back(s.device);
    m.low = std::min(m.low, s.effects.effects[most].importance), m.high = std::max(m.high, s.effects.effects[most].importance);
  }
  std::vector<std::string> all;
  for (const auto& [what, m] : by_resource)
    all.push_back(fmt::format("For {} on {}, {} matters most: alone it explains {} of the variance of log speed.", what.first, fmt::join(m.devices, ", "), what.second,
                              percent(m.low) == percent(m.high) ? percent(m.low) : fmt::format("{} to {}", percent(m.low), percent(m.high))));
  return fmt::format("{}", fmt::join(all, " "));
}

std::vector<std::string> campaign_sentences(const Campaign& campaign) {
  std::vector<std::string> all;
  if (std::string answer = campaign_answer(campaign); !answer.empty()) all.push_back(std::move(answer));
  for (const CampaignSeries& s : campaign.series) {
    const cost::ResourceEffects& e = s.effects;
    const auto& fastest = s.table.rows[e.fastest];
    std::vector<std::string> with;
    for (size_t i = 0; i < s.table.resources.size(); ++i) with.push_back(s.table.resources[i].name + " " + s.table.resources[i].labels[fastest.at[i]]);
    all.push_back(fmt::format("{} on {}: {} trials, {} of them failed; times are {}. The fastest reaches {} with {}.", s.name, s.device, s.trials, s.failures, db::time_kind_name(s.kind), campaign_rate(fastest.speed),
                              fmt::join(with, ", ")));
    const size_t most = most_important(s);
    all.push_back(fmt::format("{} on {}: {} matters most, {} of the variance [{}, {}]; on trials that they did not see, the trees explain {} of it.", s.name, s.device, s.table.resources[most].name,
                              percent(e.effects[most].importance), percent(e.effects[most].importance_low), percent(e.effects[most].importance_high), percent(std::max(0.0, e.r_squared))));
    for (size_t i = 0; i < e.effects.size(); ++i)
      if (const auto& k = e.effects[i].partial_knee)
        all.push_back(fmt::format("{} on {}: more {} brings less from {} on; of the refits {} bend, nine of ten of these between {} and {}.", s.name, s.device, s.table.resources[i].name, value_text(k->at),
                                  percent(k->share), value_text(k->low), value_text(k->high)));
  }
  all.insert(all.end(), campaign.unanalysed.begin(), campaign.unanalysed.end());
  if (campaign.series.size() > 1 && campaign.crossings.empty()) all.emplace_back("No resource that two devices share with the same values changes which of them is faster, by their best trials.");
  for (const CampaignCrossing& c : campaign.crossings)
    all.push_back(fmt::format("{}: along {}, {} is the faster one up to {} [{}, {}], then {}; {} of the refits agree.", c.name, c.resource, c.before, value_text(c.crossing.at), value_text(c.crossing.low),
                              value_text(c.crossing.high), c.after, percent(c.crossing.share)));
  for (const CampaignStudy& s : campaign.studies) all.push_back(study_sentence(s));
  all.insert(all.end(), campaign.unstudied.begin(), campaign.unstudied.end());
  return all;
}

std::string study_sentence(const CampaignStudy& s) {
  const cost::FeatureStudy& f = s.study;
  std::vector<std::string> devices;
  for (const auto& d : f.devices) devices.push_back(d.name);
  std::string out = fmt::format("{}, {} times, each of {} left out once: told the knobs alone, trees put {} of the pairs of trials on a device that they never saw in order, told everything {}; to come within 5 % of the fastest "
                                "takes {:.1f} and {:.1f} trials, by chance {:.1f}.",
                                s.name, db::time_kind_name(s.kind), fmt::join(devices, ", "), tenths(f.schedule.pairs), tenths(f.all.pairs), f.schedule.trials, f.all.trials, f.chance);
  for (const cost::Surely surely : {cost::Surely::helps, cost::Surely::harms}) {
    std::vector<std::string> names;
    for (const cost::FeatureWorth& w : f.worths)
      if (cost::surely(w) == surely) names.push_back(w.name);
    if (!names.empty()) out += fmt::format(" What surely {} beside the knobs: {}.", surely_text(surely), fmt::join(names, "; "));
    if (names.empty() && surely == cost::Surely::helps) out += " Nothing of it surely helps beside the knobs.";
  }
  if (!f.with_hardware) out += " Hardware facts were not tried: leaving one of two devices out leaves one, whose facts never change.";
  return out;
}

std::vector<std::vector<std::string>> crossing_cells(const Campaign& campaign, const std::string& name) {
  std::vector<std::vector<std::string>> out{{"resource", "faster before", "faster after", ">at", ">interval", ">refits that agree"}};
  for (const CampaignCrossing& c : campaign.crossings)
    if (c.name == name)
      out.push_back({c.resource, c.before, c.after, value_text(c.crossing.at), fmt::format("{} to {}", value_text(c.crossing.low), value_text(c.crossing.high)), percent(c.crossing.share)});
  return out;
}

std::vector<std::vector<std::string>> worth_cells(const CampaignStudy& s) {
  std::vector<std::vector<std::string>> out{{"told", "what it is", ">pairs, alone", ">trials, alone", ">pairs, beside all", ">trials, beside all", "surely"}};
  for (const cost::FeatureWorth& w : s.study.worths)
    out.push_back({w.name, w.kind == cost::FeatureKind::hardware ? "hardware" : "operator", points_text(w.pairs_alone), times_text(w.trials_alone), points_text(w.pairs_beside), times_text(w.trials_beside),
                   surely_text(cost::surely(w))});
  return out;
}

std::vector<std::vector<std::string>> left_out_cells(const CampaignStudy& s) {
  std::vector<std::vector<std::string>> out{{"left out", ">pairs, knobs", ">pairs, all", ">best of 8, knobs", ">best of 8, all", ">trials, knobs", ">trials, all", ">trials, chance"}};
  for (const cost::FeatureStudy::Device& d : s.study.devices)
    out.push_back({d.name, tenths(d.schedule.pairs), tenths(d.all.pairs), tenths(d.schedule.best_of_8), tenths(d.all.best_of_8), fmt::format("{:.1f}", d.schedule.trials), fmt::format("{:.1f}", d.all.trials),
                   fmt::format("{:.1f}", d.chance)});
  return out;
}

std::vector<std::vector<std::string>> importance_cells(const CampaignSeries& s) {
  std::vector<std::vector<std::string>> out{{"resource", ">values", ">importance", ">interval", ">knee of the mean", ">knee of the slice", ">knee of the best"}};
  for (size_t i = 0; i < s.table.resources.size(); ++i) {
    const cost::ResourceEffect& e = s.effects.effects[i];
    out.push_back({s.table.resources[i].name, std::to_string(s.table.resources[i].values.size()), percent(e.importance), fmt::format("{} to {}", percent(e.importance_low), percent(e.importance_high)),
                   knee_text(e.partial_knee), knee_text(e.slice_knee), knee_text(e.best_knee)});
  }
  for (size_t i = 0; i < std::min<size_t>(3, s.effects.pairs.size()); ++i) {
    const cost::ResourcePair& p = s.effects.pairs[i];
    out.push_back({s.table.resources[p.a].name + " with " + s.table.resources[p.b].name, "", percent(p.share), "", "", "", ""});
  }
  return out;
}

std::vector<std::vector<std::string>> effect_cells(const CampaignSeries& s, size_t resource) {
  const cost::Resource& r = s.table.resources[resource];
  const cost::ResourceEffect& e = s.effects.effects[resource];
  std::vector<std::vector<std::string>> out{{r.name, ">mean", ">slice", ">trial there", ">best"}};
  for (size_t i = 0; i < r.values.size(); ++i) out.push_back({r.labels[i], band_text(e.partial, i), band_text(e.slice, i), campaign_rate(e.measured[i]), campaign_rate(e.best.middle[i])});
  return out;
}

Json campaign_json(const Campaign& campaign) {
  const auto curve = [](const cost::ResourceCurve& c) { return Json{{"flop_per_s", c.middle}, {"low", c.low}, {"high", c.high}}; };
  const auto knee = [](const std::optional<cost::ResourceKnee>& k) { return k ? Json{{"at", k->at}, {"low", k->low}, {"high", k->high}, {"share", k->share}} : Json(); };
  Json series = Json::array(), crossings = Json::array();
  for (const CampaignSeries& s : campaign.series) {
    Json resources = Json::array(), pairs = Json::array();
    for (size_t i = 0; i < s.table.resources.size(); ++i) {
      const cost::Resource& r = s.table.resources[i];
      const cost::ResourceEffect& e = s.effects.effects[i];
      resources.push_back({{"name", r.name}, {"values", r.labels}, {"numbers", r.numbers}, {"importance", e.importance}, {"importance_low", e.importance_low}, {"importance_high", e.importance_high},
                           {"partial", curve(e.partial)}, {"slice", curve(e.slice)}, {"best", curve(e.best)}, {"measured", e.measured}, {"partial_knee", knee(e.partial_knee)}, {"slice_knee", knee(e.slice_knee)},
                           {"best_knee", knee(e.best_knee)}});
    }
    for (const cost::ResourcePair& p : s.effects.pairs) pairs.push_back({{"a", s.table.resources[p.a].name}, {"b", s.table.resources[p.b].name}, {"share", p.share}});
    series.push_back({{"operator", s.name}, {"device", s.device}, {"times", db::time_kind_name(s.kind)}, {"trials", s.trials}, {"failures", s.failures}, {"r_squared", s.effects.r_squared},
                      {"grid_points", s.effects.grid_points}, {"resources", resources}, {"pairs", pairs}});
  }
  for (const CampaignCrossing& c : campaign.crossings)
    crossings.push_back({{"operator", c.name}, {"resource", c.resource}, {"before", c.before}, {"after", c.after}, {"at", c.crossing.at}, {"low", c.crossing.low}, {"high", c.crossing.high}, {"share", c.crossing.share}});
  Json studies = Json::array();
  const auto gain = [](const cost::StudyGain& g) { return Json{{"mean", g.mean}, {"low", g.low}, {"high", g.high}}; };
  const auto score = [](const cost::StudyScore& s) { return Json{{"pairs", s.pairs}, {"best_of_8", s.best_of_8}, {"trials", s.trials}}; };
  for (const CampaignStudy& s : campaign.studies) {
    Json worths = Json::array(), devices = Json::array();
    for (const cost::FeatureWorth& w : s.study.worths)
      worths.push_back({{"told", w.name}, {"kind", w.kind == cost::FeatureKind::hardware ? "hardware" : "operator"}, {"group", w.is_group}, {"pairs_alone", gain(w.pairs_alone)}, {"pairs_beside", gain(w.pairs_beside)},
                        {"trials_alone", gain(w.trials_alone)}, {"trials_beside", gain(w.trials_beside)}, {"surely", surely_text(cost::surely(w))}});
    for (const cost::FeatureStudy::Device& d : s.study.devices) devices.push_back({{"device", d.name}, {"knobs", score(d.schedule)}, {"all", score(d.all)}, {"chance_trials", d.chance}});
    studies.push_back({{"operator", s.name}, {"times", db::time_kind_name(s.kind)}, {"knobs", score(s.study.schedule)}, {"all", score(s.study.all)}, {"chance_trials", s.study.chance}, {"hardware_tried", s.study.with_hardware},
                       {"refits", s.study.refits}, {"candidates", s.study.candidates}, {"worths", worths}, {"left_out", devices}});
  }
  return {{"campaign", campaign.name}, {"sentences", campaign_sentences(campaign)}, {"series", series}, {"crossings", crossings}, {"studies", studies}, {"unstudied", campaign.unstudied}};
}

}  // namespace tw::logs
