// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "db/database.h"
#include "engine/base/stop_token.h"
#include "engine/cost/context_features.h"
#include "engine/cost/feature_study.h"
#include "engine/cost/resource_effects.h"

/// Operators x shapes x targets x resources: how an operator's speed follows from its resources, from the sessions of a campaign in a workspace.
namespace tw::logs {

/// Sessions of a campaign are stored as those of a race of this name.
std::string campaign_race(const std::string& campaign);
/// Names of the campaigns that sessions are of, oldest first.
std::vector<std::string> campaigns_of(std::span<const db::SessionRow> sessions);

/// A trial where it is stored.
struct TrialPlace {
  ModelId model;
  SessionId session;
  TaskId task;
  int64_t number = 0;
};

/// What a session of a campaign measured of one operator in one shape for one target.
struct CampaignCell {
  /// A value of a knob, of a size or of a fact.
  struct Value {
    double number = 0;  ///< 0 for words
    std::string label;
    bool is_number = true;
  };
  using Values = std::map<std::string, Value>;
  struct Trial {
    Values knobs;
    double seconds = 0;  ///< infinity for failures
    bool blamed = false; ///< failed by its own fault
    TrialPlace place;
  };
  std::string name;    ///< the operator
  std::string device;  ///< the processor or the GPU
  db::TimeKind kind = db::TimeKind::measured;
  double flops = 0;    ///< of one run
  Values sizes;        ///< of the shape
  Values facts;        ///< of the target, that may differ on one device
  std::vector<cost::NamedNumber> hardware, properties;
  std::vector<Trial> trials;  ///< all but the default schedule's
};
struct CampaignTrials {
  std::string name;
  std::vector<CampaignCell> cells;
};
/// Reads the campaign's trials. Errors: not_found without any; those of the database.
Expected<CampaignTrials> campaign_trials(db::Database& db, const std::string& name);

/// One operator on one kind of device.
struct CampaignSeries {
  std::string name;    ///< the operator
  std::string device;  ///< the processor or the GPU
  db::TimeKind kind = db::TimeKind::measured;
  int64_t trials = 0, failures = 0;
  cost::ResourceTable table;  ///< knobs, shape and facts of the target of which there is more than one value; speed in FLOP/s
  std::vector<TrialPlace> places;  ///< of the table's rows
  cost::ResourceEffects effects;
};
/// Where another device becomes the faster one along a resource, by the best trials.
struct CampaignCrossing {
  std::string name, resource, before, after;  ///< operator, axis, devices
  cost::Crossing crossing;
};
/// What a cost model should be told of one operator, by leaving its devices out.
struct CampaignStudy {
  std::string name;
  db::TimeKind kind = db::TimeKind::measured;
  cost::FeatureStudy study;
};
struct Campaign {
  std::string name;
  std::vector<CampaignSeries> series;
  std::vector<std::string> unanalysed;  ///< operators on devices of which nothing can be said, and why, a sentence each
  std::vector<CampaignCrossing> crossings;
  std::vector<CampaignStudy> studies;
  std::vector<std::string> unstudied;   ///< operators of which no device can be left out, and why, a sentence each
};

struct CampaignAnalysis {
  int threads = 1;                                    ///< of the study of features; the result is the same with any number
  std::function<void(int done, int of)> progress = {};  ///< by the thread that analyses
};
/// Resources that always change together are one. Operators are studied apart by kind of time. Errors: cancelled; those of cost::resource_effects where it says nothing of any series.
Expected<Campaign> analyse_campaign(const CampaignTrials& trials, const CampaignAnalysis& options, const StopToken& stop);

}  // namespace tw::logs
