// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/logs/campaign.h"

namespace tw::logs {

/// All of a campaign as one web page that needs no other file. `tw campaign` and the window write it.
std::string campaign_page(const Campaign& campaign);

}  // namespace tw::logs
