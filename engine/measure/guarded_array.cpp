// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/guarded_array.h"

#include <sys/mman.h>

#include <cstring>

#include "engine/base/text.h"

namespace tw::measure {

namespace {

constexpr size_t kPage = 4096;
constexpr std::byte kPattern{0xc3};
constexpr size_t kHugePage = size_t{2} << 20;

size_t round_up(size_t n, size_t to) { return (n + to - 1) / to * to; }

}  // namespace

std::unique_ptr<GuardedArray> GuardedArray::make(int64_t bytes, int64_t stagger) {
  std::unique_ptr<GuardedArray> self(new GuardedArray());
  const size_t shift = static_cast<size_t>(stagger) % kPage / 64 * 64;
  const size_t body = round_up(shift + static_cast<size_t>(bytes), kPage);
  self->map_bytes_ = body + 4 * kPage;
  void* p = mmap(nullptr, self->map_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return nullptr;
  self->map_ = static_cast<std::byte*>(p);
  self->bytes_ = bytes;
  self->zone_begin_ = self->map_ + kPage;
  self->zone_end_ = self->map_ + self->map_bytes_ - kPage;
  self->data_ = self->zone_begin_ + kPage + shift;
  if (body >= kHugePage) madvise(self->map_, self->map_bytes_, MADV_HUGEPAGE);  // only a hint
  if (mprotect(self->map_, kPage, PROT_NONE) != 0 || mprotect(self->zone_end_, kPage, PROT_NONE) != 0) return nullptr;
  std::memset(self->zone_begin_, static_cast<int>(kPattern), static_cast<size_t>(self->data_ - self->zone_begin_));
  std::byte* end = self->data_ + bytes;
  std::memset(end, static_cast<int>(kPattern), static_cast<size_t>(self->zone_end_ - end));
  return self;
}

GuardedArray::~GuardedArray() {
  if (map_ != nullptr) munmap(map_, map_bytes_);
}

std::optional<std::string> GuardedArray::damage() const {
  const std::byte* end = data_ + bytes_;
  for (const std::byte* p = end; p < zone_end_; ++p) {
    if (*p != kPattern) return fmt::format("{} bytes past its end", p - end);
  }
  for (const std::byte* p = data_ - 1; p >= zone_begin_; --p) {
    if (*p != kPattern) return fmt::format("{} bytes before its start", data_ - p);
  }
  return std::nullopt;
}

}  // namespace tw::measure
