// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "db/database.h"
#include "engine/base/stop_token.h"
#include "engine/cost/resource_effects.h"

/// Operators x shapes x targets x resources: how an operator's speed follows from its resources, from the sessions of a campaign in a workspace.
namespace tw::logs {

/// Sessions of a campaign are stored as those of a race of this name.
std::string campaign_race(const std::string& campaign);
/// Names of the campaigns in a workspace, oldest first.
Expected<std::vector<std::string>> campaigns_of(db::Database& db);

/// One operator on one kind of device.
struct CampaignSeries {
  std::string name;    ///< the operator
  std::string device;  ///< the processor or the GPU
  db::TimeKind kind = db::TimeKind::measured;
  int64_t trials = 0, failures = 0;
  cost::ResourceTable table;  ///< knobs, shape and facts of the target of which there is more than one value; speed in FLOP/s
  cost::ResourceEffects effects;
};
/// Where another device becomes the faster one along a resource, by the best trials.
struct CampaignCrossing {
  std::string name, resource, before, after;  ///< operator, axis, devices
  cost::Crossing crossing;
};
struct Campaign {
  std::string name;
  std::vector<CampaignSeries> series;
  std::vector<std::string> unanalysed;  ///< operators on devices of which nothing can be said, and why, a sentence each
  std::vector<CampaignCrossing> crossings;
};
/// Reads the campaign's trials and analyses them. Resources that always change together are one. Errors: not_found without such sessions; cancelled; those of cost::resource_effects
/// where it says nothing of any series.
Expected<Campaign> analyse_campaign(db::Database& db, const std::string& name, const StopToken& stop);

/// What there is to say of it, one sentence each.
std::vector<std::string> campaign_sentences(const Campaign& campaign);
/// A row for each resource below the row of titles; a title that begins with '>' is one of numbers.
std::vector<std::vector<std::string>> importance_cells(const CampaignSeries& series);
/// The same for each value of one resource.
std::vector<std::vector<std::string>> effect_cells(const CampaignSeries& series, size_t resource);
/// What the columns are.
inline constexpr const char* kCampaignNote =
    "Mean: partial dependence, the geometric mean over all values of the other resources. Slice: the others as the fastest trial has them. Both are what boosted trees say that were fitted to the trials; brackets hold nine "
    "of ten refits to resampled trials. Best: the fastest trial with the value. Knee: from where on more brings less than its share (Kneedle, Satopaa et al. 2011). Importance: share of the variance of the logarithm of "
    "speed that a resource explains alone (functional ANOVA, Hutter et al. 2014).";
/// All of it.
Json campaign_json(const Campaign& campaign);
/// All of it as one web page that needs no other file.
std::string campaign_page(const Campaign& campaign);

}  // namespace tw::logs
