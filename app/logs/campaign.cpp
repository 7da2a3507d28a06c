// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/logs/comparison_page.h"
#include "app/logs/curve_svg.h"
#include "app/logs/page.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/target/target.h"
#include "engine/te/source.h"

namespace tw::logs {
namespace {

constexpr std::string_view kCampaignRace = "campaign: ";

/// A value of a resource as a trial has it.
struct ResourceValue {
  double number = 0;
  std::string label;
  bool is_number = true;
};
ResourceValue number_value(int64_t v) { return {static_cast<double>(v), std::to_string(v), true}; }

using Choices = std::map<std::string, ResourceValue>;

/// A trial's knobs from its list of choices: the factors of a split but for the first, which follows from the others.
void add_knobs(const Json& entity, Choices& out) {
  if (!entity.is_array()) return;
  for (const Json& knob : entity) {
    if (!knob.is_array() || knob.size() != 3 || !knob[0].is_string()) continue;
    const std::string name = knob[0].get<std::string>();
    const Json& value = knob[2];
    if (knob[1] == "sp" && value.is_array()) {
      for (size_t k = 1; k < value.size(); ++k)
        if (value[k].is_number_integer()) out[value.size() == 2 ? name : fmt::format("{}[{}]", name, k)] = number_value(value[k].get<int64_t>());
    } else if (value.is_number_integer()) {
      out[name] = number_value(value.get<int64_t>());
    } else {
      out[name] = {0, dump_json(value), false};
    }
  }
}

void add_shape(const std::string& text, Choices& out) {
  const auto source = te::parse_source(text);
  if (!source) return;
  for (const te::Param& p : source->params)
    if (const auto* v = std::get_if<int64_t>(&p.value); v && !p.derived) out[p.name] = number_value(*v);
}

void add_facts(const Target& t, Choices& out) {
  if (t.gpu) return;  // each GPU is a series of its own
  out["threads"] = number_value(t.cores);
  out["vector bits"] = number_value(t.vector_bits);
}

struct Observed {
  Choices choices;
  double speed = 0;
};

/// Resources with their values, and trials in terms of their places.
cost::ResourceTable table_of(const std::vector<Observed>& trials) {
  std::map<std::string, std::map<std::pair<double, std::string>, size_t>> values;
  std::map<std::string, size_t> known;
  std::set<std::string> words;
  for (const Observed& t : trials)
    for (const auto& [name, v] : t.choices) {
      values[name].emplace(std::pair(v.number, v.label), 0), ++known[name];
      if (!v.is_number) words.insert(name);
    }
  cost::ResourceTable table;
  table.rows.resize(trials.size());
  for (size_t r = 0; r < trials.size(); ++r) table.rows[r].speed = trials[r].speed;
  std::map<std::vector<size_t>, size_t> columns;
  for (auto& [name, places] : values) {
    if (places.size() < 2 || known[name] < trials.size()) continue;
    cost::Resource resource{name, {}, {}, !words.contains(name)};
    for (auto& [value, place] : places) {
      place = resource.values.size();
      resource.values.push_back(resource.numbers ? value.first : static_cast<double>(place)), resource.labels.push_back(value.second);
    }
    std::vector<size_t> column;
    for (const Observed& t : trials) {
      const ResourceValue& v = t.choices.at(name);
      column.push_back(places.at({v.number, v.label}));
    }
    const auto [same, is_new] = columns.emplace(column, table.resources.size());
    if (!is_new) {
      cost::Resource& first = table.resources[same->second];
      first.name += ", " + name;
      for (size_t k = 0; k < first.labels.size(); ++k)  // one value stands for all of them where they are the same
        if (first.labels[k] != resource.labels[k] && !first.labels[k].ends_with(", " + resource.labels[k])) first.labels[k] += ", " + resource.labels[k];
      continue;
    }
    table.resources.push_back(std::move(resource));
    for (size_t r = 0; r < trials.size(); ++r) table.rows[r].at.push_back(column[r]);
  }
  return table;
}

std::string rate(double flops) { return flops > 0 ? si_text(flops, "FLOP/s") : "-"; }
std::string percent(double share) { return fmt::format("{:.0f} %", 100 * share); }
std::string value_text(double v) { return fmt::format("{:.4g}", v); }
std::string knee_text(const std::optional<cost::ResourceKnee>& k) { return k ? fmt::format("{} [{}, {}]", value_text(k->at), value_text(k->low), value_text(k->high)) : "-"; }
std::string band_text(const cost::ResourceCurve& c, size_t i) { return fmt::format("{} [{}, {}]", rate(c.middle[i]), rate(c.low[i]), rate(c.high[i])); }

/// Speed over the values of a resource, with the knee of the mean as a line.
CurveChart effect_chart(const CampaignSeries& s, size_t resource) {
  const cost::Resource& r = s.table.resources[resource];
  const cost::ResourceEffect& e = s.effects.effects[resource];
  CurveChart chart{r.name, r.name, {}};
  chart.x_labels = r.labels, chart.y_text = rate;
  for (const auto& [name, curve] : {std::pair("mean", &e.partial), std::pair("slice", &e.slice), std::pair("best", &e.best)}) {
    QuartileBand band;
    for (size_t i = 0; i < r.values.size(); ++i)
      if (curve->middle[i] > 0) band.x.push_back(static_cast<double>(i)), band.low.push_back(curve->low[i]), band.middle.push_back(curve->middle[i]), band.high.push_back(curve->high[i]);
    chart.series.push_back({name, std::move(band)});
  }
  if (e.partial_knee) chart.mark = static_cast<double>(std::find(r.values.begin(), r.values.end(), e.partial_knee->at) - r.values.begin());
  return chart;
}

}  // namespace

std::string campaign_race(const std::string& campaign) { return std::string(kCampaignRace) + campaign; }

Expected<std::vector<std::string>> campaigns_of(db::Database& db) {
  TW_TRY(const auto rows, db.sessions());
  std::vector<std::string> names;
  for (const db::SessionRow& row : rows) {
    const std::string race = race_of(row);
    if (!race.starts_with(kCampaignRace)) continue;
    std::string name = race.substr(kCampaignRace.size());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Expected<Campaign> analyse_campaign(db::Database& db, const std::string& name, const StopToken& stop) {
  TW_TRY(auto rows, db.sessions());
  std::erase_if(rows, [&](const db::SessionRow& row) { return race_of(row) != campaign_race(name); });
  TW_TRY(const auto tasks, db.tasks());
  Campaign out{name, {}, {}, {}};
  std::vector<std::vector<Observed>> observed;
  for (const db::SessionRow& row : rows) {
    const auto target = parse_target(row.target);
    if (!target) continue;
    for (const db::TaskRow& task : tasks) {
      TW_TRY(const auto trials, db.outcomes(row.id, task.id, 0, -1));
      if (trials.empty()) continue;
      const std::string device = target->gpu ? target->gpu->name : target->cpu;
      auto series = std::find_if(out.series.begin(), out.series.end(), [&](const CampaignSeries& s) { return s.name == task.name && s.device == device && s.kind == row.kind; });
      if (series == out.series.end()) {
        series = out.series.insert(out.series.end(), {.name = task.name, .device = device, .kind = row.kind, .table = {}, .effects = {}});
        observed.emplace_back();
      }
      Choices cell;
      add_shape(task.dag_text, cell);
      add_facts(*target, cell);
      for (const db::TrialOutcome& t : trials) {
        if (t.index < 0) continue;  // the default schedule is no point of the space
        ++series->trials;
        if (!std::isfinite(t.seconds) || !(t.seconds > 0)) {
          ++series->failures;
          continue;
        }
        const auto entity = parse_json(t.config);
        if (!entity) continue;
        Observed o{cell, static_cast<double>(task.flops) / t.seconds};
        add_knobs(*entity, o.choices);
        observed[static_cast<size_t>(series - out.series.begin())].push_back(std::move(o));
      }
    }
  }
  if (out.series.empty()) return Error(ErrorCode::not_found, fmt::format("Expected trials of the campaign '{}', found none", printable(name)), db.path());
  for (size_t s = 0; s < out.series.size(); ++s) {
    CampaignSeries& series = out.series[s];
    series.table = table_of(observed[s]);
    auto effects = cost::resource_effects(series.table, {}, stop);
    if (!effects) {
      // What fails on one device is no reason to say nothing of the others.
      if (effects.error().code == ErrorCode::cancelled || out.series.size() == out.unanalysed.size() + 1) return std::move(effects).error().note(fmt::format("{} on {}", series.name, series.device));
      out.unanalysed.push_back(fmt::format("{} on {}: {} trials, {} of them failed. {}.", series.name, series.device, series.trials, series.failures, effects.error().message));
      continue;
    }
    series.effects = std::move(*effects);
  }
  std::erase_if(out.series, [](const CampaignSeries& s) { return s.effects.effects.empty(); });
  for (size_t a = 0; a < out.series.size(); ++a)
    for (size_t b = a + 1; b < out.series.size(); ++b) {
      const CampaignSeries &first = out.series[a], &second = out.series[b];
      if (first.name != second.name || first.kind != second.kind) continue;
      for (size_t i = 0; i < first.table.resources.size(); ++i)
        for (size_t k = 0; k < second.table.resources.size(); ++k) {
          const cost::Resource& r = first.table.resources[i];
          if (!r.numbers || r.name != second.table.resources[k].name || r.values != second.table.resources[k].values) continue;
          for (const cost::Crossing& c : cost::crossings(r.values, first.effects.effects[i].best, second.effects.effects[k].best))
            out.crossings.push_back({first.name, r.name, c.second_wins ? first.device : second.device, c.second_wins ? second.device : first.device, c});
        }
    }
  return out;
}

std::vector<std::string> campaign_sentences(const Campaign& campaign) {
  std::vector<std::string> all;
  for (const CampaignSeries& s : campaign.series) {
    const cost::ResourceEffects& e = s.effects;
    const auto& fastest = s.table.rows[e.fastest];
    std::vector<std::string> with;
    for (size_t i = 0; i < s.table.resources.size(); ++i) with.push_back(s.table.resources[i].name + " " + s.table.resources[i].labels[fastest.at[i]]);
    all.push_back(fmt::format("{} on {}: {} trials, {} of them failed; times are {}. The fastest reaches {} with {}.", s.name, s.device, s.trials, s.failures, db::time_kind_name(s.kind), rate(fastest.speed),
                              fmt::join(with, ", ")));
    size_t most = 0;
    for (size_t i = 1; i < e.effects.size(); ++i)
      if (e.effects[i].importance > e.effects[most].importance) most = i;
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
  return all;
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
  std::vector<std::vector<std::string>> out{{r.name, ">mean", ">slice", ">measured there", ">best"}};
  for (size_t i = 0; i < r.values.size(); ++i) out.push_back({r.labels[i], band_text(e.partial, i), band_text(e.slice, i), rate(e.measured[i]), rate(e.best.middle[i])});
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
  return {{"campaign", campaign.name}, {"sentences", campaign_sentences(campaign)}, {"series", series}, {"crossings", crossings}};
}

std::string campaign_page(const Campaign& campaign) {
  const auto table = [](const std::vector<std::vector<std::string>>& rows) {
    std::string out = "<table class=\"numbers\">\n";
    for (size_t r = 0; r < rows.size(); ++r) {
      std::vector<std::string> cells;
      for (const std::string& cell : rows[r]) cells.push_back(markup_text(r == 0 && cell.starts_with('>') ? cell.substr(1) : cell));
      out += page_row(cells, r == 0 ? "th" : "td");
    }
    return out + "</table>\n";
  };
  std::string out = page_head("Campaign: " + campaign.name);
  for (const std::string& s : campaign_sentences(campaign)) out += fmt::format("<p>{}</p>\n", markup_text(s));
  for (const CampaignSeries& s : campaign.series) {
    out += fmt::format("<h2>{} on {}</h2>\n{}", markup_text(s.name), markup_text(s.device), table(importance_cells(s)));
    std::vector<CurveChart> charts;
    for (size_t i = 0; i < s.table.resources.size(); ++i) charts.push_back(effect_chart(s, i));
    out += curves_svg(charts) + "<details><summary>Tables</summary>\n";
    for (size_t i = 0; i < s.table.resources.size(); ++i) out += table(effect_cells(s, i));
    out += "</details>\n";
  }
  return out + fmt::format("<p>{}</p>\n", markup_text(kCampaignNote)) + page_end();
}

}  // namespace tw::logs
