// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/cost/cost_model.h"
#include "engine/target/target.h"

/// Cost models that come with the program: `../share/tilewright/models` beside it holds one file for each model and kind of device, with a card that says what it learned from.
namespace tw::cost {

/// Whom a model is asked about.
enum class PretrainedFor : uint8_t {
  itself,  ///< the device that it learned from
  others   ///< another device, to whose trials it is adapted
};

/// What a device's models are called by: a GPU by its name, a processor by what its vectors hold, such as `a100` or `avx512`. Empty for what has no name.
std::string pretrained_name(const Target& target);

/// The file of a model for `target`. `folder`: where it is looked for; empty: with the program.
/// Errors: not_found, naming those that there are.
Expected<std::string> find_pretrained(const ModelDef& def, const Target& target, PretrainedFor use, const std::string& folder = {});

}  // namespace tw::cost
