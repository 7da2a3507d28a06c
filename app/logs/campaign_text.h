// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/logs/campaign.h"
#include "engine/base/json_fwd.h"

/// A campaign in words, tables and as a document: what `tw campaign`, its page and the view show.
namespace tw::logs {

/// A speed in FLOP/s with its unit; a dash where there is none.
std::string campaign_rate(double flops);
/// What matters most, in one or a few sentences.
std::string campaign_answer(const Campaign& campaign);
/// What there is to say of it, one sentence each; the answer comes first.
std::vector<std::string> campaign_sentences(const Campaign& campaign);
/// A row for each resource below the row of titles; a title that begins with '>' is one of numbers.
std::vector<std::vector<std::string>> importance_cells(const CampaignSeries& series);
/// The same for each value of one resource.
std::vector<std::vector<std::string>> effect_cells(const CampaignSeries& series, size_t resource);
/// The same for each place where another device becomes the faster one of an operator.
std::vector<std::vector<std::string>> crossing_cells(const Campaign& campaign, const std::string& name);
/// The same for each fact and property that a cost model was told or not, what helps most first.
std::vector<std::vector<std::string>> worth_cells(const CampaignStudy& study);
/// The same for each device that was left out.
std::vector<std::vector<std::string>> left_out_cells(const CampaignStudy& study);
/// What is said above these two.
std::string study_sentence(const CampaignStudy& study);
/// What the columns are.
inline constexpr const char* kCampaignNote =
    "Mean: partial dependence, the geometric mean over all values of the other resources. Slice: the others as the fastest trial has them. Both are what boosted trees say that were fitted to the trials; brackets hold nine "
    "of ten refits to resampled trials. Best: the fastest trial with the value. Knee: from where on more brings less than its share (Kneedle, Satopaa et al. 2011). Importance: share of the variance of the logarithm of "
    "speed that a resource explains alone (functional ANOVA, Hutter et al. 2014).";
inline constexpr const char* kStudyNote =
    "Told: boosted trees learned to order trials from the knobs of the schedule, with and without each fact, on all devices but one, and ordered the recorded trials of that one. Pairs: by how much the share of pairs of trials in "
    "the right order grows when they are told. Trials: how many times as many of these trials it takes, in the predicted order, until one is within 5 % of the fastest of them; nothing is learned on the way. Alone: beside the "
    "knobs; beside all: together with everything else that was told. Brackets hold nine of ten draws of devices and refits; surely means that they leave no change out. Facts of few devices stand for whatever else "
    "differs between these.";
/// All of it.
Json campaign_json(const Campaign& campaign);

}  // namespace tw::logs
