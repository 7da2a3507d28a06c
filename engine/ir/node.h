// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "engine/base/assert.h"

namespace tw::ir {

/// Base of all shared nodes: an atomic reference count and a kind tag of the hierarchy it belongs to.
class Node {
 public:
  explicit Node(uint8_t tag) : tag_(tag) {}
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  uint8_t tag() const { return tag_; }

 protected:
  ~Node() = default;

 private:
  template <class T>
  friend class Ref;
  mutable std::atomic<uint32_t> count_{0};
  const uint8_t tag_;
};

/// Non-null intrusive handle to a const node. Copies share; absence is std::optional<Ref<T>>.
template <class T>
class Ref {
 public:
  /// Takes shared ownership of a node made with `new`.
  explicit Ref(const T* node) : node_(node) {
    TW_ASSERT(node != nullptr, "null node");
    node_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(const Ref& other) : node_(other.node_) {
    if (node_) node_->count_.fetch_add(1, std::memory_order_relaxed);
  }
  Ref(Ref&& other) noexcept : node_(std::exchange(other.node_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(node_, other.node_);
    return *this;
  }
  ~Ref() {
    if (node_ && node_->count_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy(node_);
  }

  const T* get() const { return node_; }
  const T* operator->() const { return node_; }
  const T& operator*() const { return *node_; }
  bool same_as(const Ref& other) const { return node_ == other.node_; }

 private:
  const T* node_;
};

}  // namespace tw::ir
