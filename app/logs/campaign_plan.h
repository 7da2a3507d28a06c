// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/target/target.h"
#include "engine/tune/session.h"

namespace tw::logs {

/// What a campaign file says: operators in their shapes on targets, each of these a cell, which is one session.
struct CampaignPlan {
  struct Cell {
    std::string name, text;  ///< of the operator, with its shape
    Target target;
    std::string device;  ///< as measure/device.h names it
    std::string shape;   ///< for people
    /// What it is called: operator, shape, target.
    std::string title() const;
  };
  std::string name;
  std::vector<Cell> cells;
  tune::SessionOptions options;  ///< of every session
};

/// Reads a campaign file (TOML, manual page campaigns.md); files of operators lie beside it. Errors: those of reading; invalid_argument at the file for what it may not say, and for targets that nobody knows.
Expected<CampaignPlan> read_campaign(const std::string& file);

/// Where its trials are stored unless a person says otherwise: beside the file, with its name.
std::string campaign_workspace(const std::string& file);
/// Bundles of the campaigns that come with the program with their results, `../share/tilewright/campaigns` beside it, in the alphabet's order; none where there is no such folder.
std::vector<std::string> shipped_campaigns();

}  // namespace tw::logs
