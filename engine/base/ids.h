// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <functional>

namespace tw {

/// A row number of one kind of thing; ids of different kinds do not convert into each other. 0 means none.
template <class Tag>
struct Id {
  int64_t value = 0;
  explicit operator bool() const { return value != 0; }
  friend auto operator<=>(const Id&, const Id&) = default;
};

using ModelId = Id<struct ModelTag>;
using TaskId = Id<struct TaskTag>;
using SessionId = Id<struct SessionTag>;
using TrialId = Id<struct TrialTag>;

}  // namespace tw

template <class Tag>
struct std::hash<tw::Id<Tag>> {
  size_t operator()(const tw::Id<Tag>& id) const noexcept { return std::hash<int64_t>{}(id.value); }
};
