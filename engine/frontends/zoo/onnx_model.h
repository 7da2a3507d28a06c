// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "engine/base/expected.h"
#include "engine/base/rng.h"

namespace tw::frontends {

/// The file of a model: its bytes in order, and between them arrays of random numbers, which are drawn as they are written. A model of any size takes no more
/// memory than a few pieces of it.
class OnnxModel {
 public:
  /// Normally distributed float32 numbers, in the order in which `rng` yields them.
  struct Normal {
    int64_t elements = 0;
    double mean = 0, deviation = 1;
    Rng rng{0};
  };
  using Sink = std::function<Expected<void>(std::string_view)>;

  void append(std::string bytes);
  void append(const Normal& array) { parts_.emplace_back(array); }
  void append(OnnxModel model);
  int64_t size() const;

  /// Hands all bytes to `sink`, in order and from one thread at a time, while other threads draw what comes next. Errors: those of the sink, after which nothing
  /// more is handed over.
  Expected<void> write(const Sink& sink) const;
  /// All of them.
  std::string bytes() const;

 private:
  std::vector<std::variant<std::string, Normal>> parts_;
};

}  // namespace tw::frontends
