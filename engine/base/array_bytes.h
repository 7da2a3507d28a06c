// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <any>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tw {

/// Memory for the bytes of one array, and what keeps it.
struct ArrayPlace {
  std::span<std::byte> bytes;
  std::shared_ptr<const void> keeper;
};
/// Gives memory for so many bytes, or none (no bytes) where they may lie anywhere; may be empty.
using ArrayRoom = std::function<ArrayPlace(size_t bytes)>;

/// The bytes of an array. Copies share them until one is written to. They may lie in memory that somebody else keeps, and may be made only when they are first
/// read: networks hold gigabytes of them in several forms. Reading is safe from several threads; writing, and copying what is being written, is not.
class ArrayBytes {
 public:
  ArrayBytes() = default;
  ArrayBytes(std::vector<std::byte> own);  // NOLINT(google-explicit-constructor): they are what a vector holds
  ArrayBytes(std::initializer_list<std::byte> list) : ArrayBytes(std::vector<std::byte>(list)) {}
  /// `bytes`, which stay where they are and as they are as long as somebody has `keeper`. `digest`: see there; empty if nobody knows it yet.
  static ArrayBytes kept(std::span<const std::byte> bytes, std::shared_ptr<const void> keeper, std::string digest = {});
  /// `size` bytes that `make` gives when they are first read. `digest` stands for how they are made, `recipe` is how, for whoever wants to know.
  static ArrayBytes late(size_t size, std::function<std::vector<std::byte>()> make, std::string digest, std::any recipe);

  /// A copy of `bytes`, in memory that `room` gives where it gives some.
  static ArrayBytes copied(std::span<const std::byte> bytes, const ArrayRoom& room);

  size_t size() const;
  bool empty() const { return size() == 0; }
  const std::byte* data() const;
  std::byte* data();  ///< for writing: no longer shared afterwards
  const std::byte* begin() const { return data(); }
  const std::byte* end() const { return data() + size(); }
  std::byte* begin() { return data(); }
  std::byte* end() { return data() + size(); }
  const std::byte& operator[](size_t i) const { return data()[i]; }
  std::byte& operator[](size_t i) { return data()[i]; }
  operator std::span<const std::byte>() const { return {data(), size()}; }  // NOLINT(google-explicit-constructor)
  void resize(size_t size);
  template <class It>
  void assign(It first, It last) {
    *this = ArrayBytes(std::vector<std::byte>(first, last));
  }
  friend bool operator==(const ArrayBytes& a, const ArrayBytes& b);

  /// Key of what they hold, computed once for all copies. That of late bytes is of how they are made: equal keys still mean equal bytes.
  const std::string& digest() const;
  const std::any& recipe() const;  ///< empty for bytes that are there
  const void* keeper() const;      ///< null for bytes of their own

 private:
  struct Block;
  std::shared_ptr<Block> block_;
};

}  // namespace tw
