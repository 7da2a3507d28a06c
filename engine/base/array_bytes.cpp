// SPDX-License-Identifier: Apache-2.0
#include "engine/base/array_bytes.h"

#include <atomic>
#include <cstring>
#include <mutex>

#include "engine/base/assert.h"
#include "engine/base/hash.h"

namespace tw {

struct ArrayBytes::Block {
  std::vector<std::byte> own;
  const std::byte* at = nullptr;
  size_t size = 0;
  std::shared_ptr<const void> keeper = nullptr;
  std::function<std::vector<std::byte>()> make = nullptr;
  std::any recipe = {};
  std::string digest = {};
  std::once_flag made = {}, digested = {};

  explicit Block(std::vector<std::byte> bytes) : own(std::move(bytes)), at(own.data()), size(own.size()) {}
  bool plain() const { return !keeper && !make && digest.empty(); }
  void be_there() {
    if (!make) return;
    std::call_once(made, [&] {
      own = make();
      TW_ASSERT(own.size() == size, "late bytes of another size");
      at = own.data();
    });
  }
};

ArrayBytes::ArrayBytes(std::vector<std::byte> own) {
  if (!own.empty()) block_ = std::make_shared<Block>(std::move(own));
}

ArrayBytes ArrayBytes::kept(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, std::string digest) {
  ArrayBytes out;
  out.block_ = std::make_shared<Block>(std::vector<std::byte>());
  out.block_->at = bytes.data();
  out.block_->size = bytes.size();
  out.block_->keeper = std::move(keeper);
  out.block_->digest = std::move(digest);
  return out;
}

ArrayBytes ArrayBytes::late(size_t size, std::function<std::vector<std::byte>()> make, std::string digest, std::any recipe) {
  ArrayBytes out;
  out.block_ = std::make_shared<Block>(std::vector<std::byte>());
  out.block_->size = size;
  out.block_->make = std::move(make);
  out.block_->digest = std::move(digest);
  out.block_->recipe = std::move(recipe);
  return out;
}

ArrayBytes ArrayBytes::copied(std::span<const std::byte> bytes, const ArrayRoom& room) {
  const ArrayPlace place = room && !bytes.empty() ? room(bytes.size()) : ArrayPlace{};
  if (place.bytes.empty()) return std::vector<std::byte>(bytes.begin(), bytes.end());
  std::memcpy(place.bytes.data(), bytes.data(), bytes.size());
  return kept(place.bytes, place.keeper);
}

size_t ArrayBytes::size() const { return block_ ? block_->size : 0; }

const std::byte* ArrayBytes::data() const {
  if (!block_) return nullptr;
  block_->be_there();
  return block_->at;
}

std::byte* ArrayBytes::data() {
  if (!block_) return nullptr;
  if (block_.use_count() == 1 && block_->plain()) {
    std::atomic_thread_fence(std::memory_order_acquire);  // whoever had a copy has done with it
  } else {
    block_->be_there();
    block_ = std::make_shared<Block>(std::vector<std::byte>(block_->at, block_->at + block_->size));
  }
  return block_->own.data();
}

void ArrayBytes::resize(size_t size) {
  std::vector<std::byte> bytes;
  if (data() != nullptr) bytes = std::move(block_->own);
  bytes.resize(size);
  *this = ArrayBytes(std::move(bytes));
}

bool operator==(const ArrayBytes& a, const ArrayBytes& b) {
  return a.block_ == b.block_ || (a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0));
}

const std::string& ArrayBytes::digest() const {
  static const std::string kOfNothing = content_key({});
  if (!block_) return kOfNothing;
  std::call_once(block_->digested, [&] {
    if (block_->digest.empty()) block_->digest = content_key({reinterpret_cast<const char*>(data()), size()});
  });
  return block_->digest;
}

const std::any& ArrayBytes::recipe() const {
  static const std::any kNone;
  return block_ ? block_->recipe : kNone;
}

const void* ArrayBytes::keeper() const { return block_ ? block_->keeper.get() : nullptr; }

}  // namespace tw
