// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "engine/base/expected.h"

/// What the benchmark programs share: options of the form --name value, errors that end the program, clocks.
namespace tw::bench {

class Options {
 public:
  Options(int argc, char** argv) {
    for (int i = 1; i + 1 < argc; i += 2) values_[argv[i]] = argv[i + 1];
  }
  int64_t integer(const std::string& name, int64_t fallback) const {
    const auto it = values_.find("--" + name);
    return it == values_.end() ? fallback : std::atoll(it->second.c_str());
  }
  std::string text(const std::string& name, const std::string& fallback) const {
    const auto it = values_.find("--" + name);
    return it == values_.end() ? fallback : it->second;
  }

 private:
  std::map<std::string, std::string> values_;
};

template <class T>
T need(Expected<T> value) {
  if (!value) {
    std::fprintf(stderr, "%s\n", value.error().text().c_str());
    std::exit(1);
  }
  if constexpr (!std::is_void_v<T>) return *std::move(value);
}

inline double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class F>
double seconds_of(F&& f) {
  const double begin = now_s();
  f();
  return now_s() - begin;
}

}  // namespace tw::bench
