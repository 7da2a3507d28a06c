// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "engine/space/config_space.h"

namespace tw::space {

/// Reads points of one space from the text of their "entity" lists, thousands of times. Entries in the order and spelling of json_text() are looked up; any
/// other text is parsed. The space must outlive it.
class PointTexts {
 public:
  explicit PointTexts(const ConfigSpace& space);
  /// As ConfigSpace::from_json.
  Expected<ConfigEntity> read(std::string_view entity) const;

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Positions = std::unordered_map<std::string, int, Hash, std::equal_to<>>;

  const ConfigSpace& space_;
  std::vector<Positions> knobs_;  ///< position of each candidate by its entry; splits also by their entry with the outer factor worked out
};

}  // namespace tw::space
