// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace tw {

/// Values by name, which are dropped when they come to too many bytes, the one that was not asked for longest first. What was asked for since the last begin()
/// stays in any case. Not thread-safe.
template <class Value>
class BoundedCache {
 public:
  explicit BoundedCache(int64_t most_bytes) : most_bytes_(most_bytes) {}

  /// What is asked for from now on belongs together.
  void begin() { ++turn_; }
  /// Null if it is not there.
  Value* find(const std::string& key) {
    const auto at = entries_.find(key);
    if (at == entries_.end()) return nullptr;
    at->second.turn = turn_;
    return &at->second.value;
  }
  Value& put(const std::string& key, Value value, int64_t bytes) {
    bytes_ += bytes;
    Value& kept = entries_.insert_or_assign(key, Entry{std::move(value), bytes, turn_}).first->second.value;
    trim();
    return kept;
  }
  int64_t bytes() const { return bytes_; }
  size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    Value value;
    int64_t bytes;
    int64_t turn;
  };

  void trim() {
    while (bytes_ > most_bytes_) {
      auto oldest = entries_.end();
      for (auto e = entries_.begin(); e != entries_.end(); ++e)
        if (e->second.turn < turn_ && (oldest == entries_.end() || e->second.turn < oldest->second.turn)) oldest = e;
      if (oldest == entries_.end()) return;
      bytes_ -= oldest->second.bytes;
      entries_.erase(oldest);
    }
  }

  int64_t most_bytes_, bytes_ = 0, turn_ = 0;
  std::map<std::string, Entry> entries_;
};

}  // namespace tw
