// SPDX-License-Identifier: Apache-2.0
#include "app/logs/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "app/logs/comparison_page.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/target/target.h"
#include "engine/te/source.h"

namespace tw::logs {
namespace {

constexpr std::string_view kCampaignRace = "campaign: ";

using Value = CampaignCell::Value;
using Values = CampaignCell::Values;

Value number_value(int64_t v) { return {static_cast<double>(v), std::to_string(v), true}; }

/// A trial's knobs from its list of choices: the factors of a split but for the first, which follows from the others.
Values knobs_of(const Json& entity) {
  Values out;
  if (!entity.is_array()) return out;
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
  return out;
}

Values sizes_of(const std::string& text) {
  Values out;
  const auto source = te::parse_source(text);
  if (!source) return out;
  for (const te::Param& p : source->params)
    if (const auto* v = std::get_if<int64_t>(&p.value); v && !p.derived) out[p.name] = number_value(*v);
  return out;
}

Values facts_of(const Target& t) {
  if (t.gpu) return {};  // each GPU is a series of its own
  return {{"threads", number_value(t.cores)}, {"vector bits", number_value(t.vector_bits)}};
}

struct Observed {
  Values choices;
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
      const Value& v = t.choices.at(name);
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

}  // namespace

std::string campaign_race(const std::string& campaign) { return std::string(kCampaignRace) + campaign; }

std::vector<std::string> campaigns_of(std::span<const db::SessionRow> sessions) {
  std::vector<std::string> names;
  for (const db::SessionRow& row : sessions) {
    const std::string race = race_of(row);
    if (!race.starts_with(kCampaignRace)) continue;
    std::string name = race.substr(kCampaignRace.size());
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Expected<CampaignTrials> campaign_trials(db::Database& db, const std::string& name) {
  TW_TRY(auto rows, db.sessions());
  std::erase_if(rows, [&](const db::SessionRow& row) { return race_of(row) != campaign_race(name); });
  TW_TRY(const auto tasks, db.tasks());
  CampaignTrials out{name, {}};
  for (const db::SessionRow& row : rows) {
    const auto target = parse_target(row.target);
    if (!target) continue;
    for (const db::TaskRow& task : tasks) {
      TW_TRY(const auto trials, db.outcomes(row.id, task.id, 0, -1));
      if (trials.empty()) continue;
      CampaignCell cell{.name = task.name, .device = target->gpu ? target->gpu->name : target->cpu, .kind = row.kind, .flops = static_cast<double>(task.flops), .sizes = sizes_of(task.dag_text), .facts = facts_of(*target),
                        .hardware = cost::hardware_facts(*target), .properties = {}, .trials = {}};
      if (const auto dag = te::parse_dag(task.dag_text)) cell.properties = cost::operator_properties(**dag);
      for (const auto& [size, value] : cell.sizes) cell.properties.push_back({size, value.number});
      for (const db::TrialOutcome& t : trials) {
        if (t.index < 0) continue;  // the default schedule is no point of the space
        const auto entity = parse_json(t.config);
        const bool ran = std::isfinite(t.seconds) && t.seconds > 0;
        // Choices that cannot be read tell nothing of a time.
        cell.trials.push_back({entity ? knobs_of(*entity) : Values(), ran && entity ? t.seconds : HUGE_VAL, !ran && entity && records::blames_candidate(t.status), {row.model, row.id, task.id, t.number}});
      }
      out.cells.push_back(std::move(cell));
    }
  }
  if (out.cells.empty()) return Error(ErrorCode::not_found, fmt::format("Expected trials of the campaign '{}', found none", printable(name)), db.path());
  return out;
}

namespace {

/// What was seen of each series, without what was analysed.
std::vector<CampaignSeries> series_of(const CampaignTrials& trials) {
  std::vector<CampaignSeries> out;
  std::vector<std::vector<Observed>> observed;
  for (const CampaignCell& cell : trials.cells) {
    auto series = std::find_if(out.begin(), out.end(), [&](const CampaignSeries& s) { return s.name == cell.name && s.device == cell.device && s.kind == cell.kind; });
    if (series == out.end()) {
      series = out.insert(out.end(), {.name = cell.name, .device = cell.device, .kind = cell.kind, .table = {}, .places = {}, .effects = {}});
      observed.emplace_back();
    }
    for (const CampaignCell::Trial& t : cell.trials) {
      ++series->trials;
      if (!std::isfinite(t.seconds)) {
        ++series->failures;
        continue;
      }
      Observed o{cell.sizes, cell.flops / t.seconds};
      for (const auto& [name, value] : cell.facts) o.choices[name] = value;
      for (const auto& [name, value] : t.knobs) o.choices[name] = value;
      observed[static_cast<size_t>(series - out.begin())].push_back(std::move(o));
      series->places.push_back(t.place);
    }
  }
  for (size_t s = 0; s < out.size(); ++s) out[s].table = table_of(observed[s]);
  return out;
}

/// The trials of one operator on all devices with times of one kind, as features.
cost::StudyTable study_table(const CampaignTrials& trials, const std::string& name, db::TimeKind kind) {
  cost::StudyTable table;
  std::map<std::string, std::set<std::string>> words;  ///< of each knob
  std::map<std::pair<cost::FeatureKind, std::string>, size_t> columns;
  const auto column = [&](cost::FeatureKind of, const std::string& what) { columns.emplace(std::pair(of, what), 0); };
  const auto meant = [&](const CampaignCell& cell) { return cell.name == name && cell.kind == kind; };
  for (const CampaignCell& cell : trials.cells) {
    if (!meant(cell)) continue;
    for (const cost::NamedNumber& n : cell.hardware) column(cost::FeatureKind::hardware, n.name);
    for (const cost::NamedNumber& n : cell.properties) column(cost::FeatureKind::property, n.name);
    for (const CampaignCell::Trial& t : cell.trials)
      for (const auto& [knob, value] : t.knobs) {
        column(cost::FeatureKind::schedule, knob);
        if (!value.is_number) words[knob].insert(value.label);
      }
  }
  for (auto& [key, place] : columns) place = table.columns.size(), table.columns.push_back({key.second, key.first});
  for (const CampaignCell& cell : trials.cells) {
    if (!meant(cell)) continue;
    const auto device = std::find(table.devices.begin(), table.devices.end(), cell.device);
    cost::StudyTable::Task task{static_cast<size_t>(device - table.devices.begin()), {}};
    if (device == table.devices.end()) table.devices.push_back(cell.device);
    std::vector<float> context(table.columns.size(), 0.0F);
    for (const cost::NamedNumber& n : cell.hardware) context[columns.at({cost::FeatureKind::hardware, n.name})] = static_cast<float>(n.value);
    for (const cost::NamedNumber& n : cell.properties) context[columns.at({cost::FeatureKind::property, n.name})] = static_cast<float>(n.value);
    for (const CampaignCell::Trial& t : cell.trials) {
      // A failure that is not the candidate's fault says nothing of it.
      if (!std::isfinite(t.seconds) && !t.blamed) continue;
      cost::StudyTable::Candidate candidate{context, t.seconds};
      for (const auto& [knob, value] : t.knobs) {
        const std::set<std::string>& known = words[knob];
        candidate.features[columns.at({cost::FeatureKind::schedule, knob})] =
            value.is_number ? static_cast<float>(value.number) : static_cast<float>(std::distance(known.begin(), known.find(value.label)));
      }
      task.candidates.push_back(std::move(candidate));
    }
    if (!task.candidates.empty()) table.tasks.push_back(std::move(task));
  }
  return table;
}

void add_crossings(Campaign& out) {
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
}

}  // namespace

Expected<Campaign> analyse_campaign(const CampaignTrials& trials, const CampaignAnalysis& options, const StopToken& stop) {
  Campaign out{.name = trials.name, .series = series_of(trials), .unanalysed = {}, .crossings = {}, .studies = {}, .unstudied = {}};
  std::vector<std::pair<std::string, db::TimeKind>> operators;
  for (const CampaignSeries& s : out.series)
    if (std::find(operators.begin(), operators.end(), std::pair(s.name, s.kind)) == operators.end()) operators.emplace_back(s.name, s.kind);
  const int steps = static_cast<int>(out.series.size() + operators.size());
  int done = 0;
  const auto step = [&] {
    if (options.progress) options.progress(done, steps);
    ++done;
  };
  for (CampaignSeries& series : out.series) {
    step();
    auto effects = cost::resource_effects(series.table, {}, stop);
    if (!effects) {
      // What fails on one device is no reason to say nothing of the others.
      if (effects.error().code == ErrorCode::cancelled || out.series.size() == out.unanalysed.size() + 1) return std::move(effects).error().note(fmt::format("{} on {}", series.name, series.device));
      out.unanalysed.push_back(fmt::format("{} on {}: {} trials, {} of them failed. {}.", series.name, series.device, series.trials, series.failures, effects.error().message));
      continue;
    }
    series.effects = std::move(*effects);
  }
  for (const auto& [name, kind] : operators) {
    step();
    auto study = cost::feature_study(study_table(trials, name, kind), {.threads = options.threads}, stop);
    if (study)
      out.studies.push_back({name, kind, std::move(*study)});
    else if (study.error().code == ErrorCode::cancelled)
      return study.error();
    else
      out.unstudied.push_back(fmt::format("{}, {} times: what a cost model should be told cannot be tried. {}.", name, db::time_kind_name(kind), study.error().message));
  }
  std::erase_if(out.series, [](const CampaignSeries& s) { return s.effects.effects.empty(); });
  add_crossings(out);
  return out;
}

}  // namespace tw::logs
