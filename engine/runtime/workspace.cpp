// SPDX-License-Identifier: Apache-2.0
#include "engine/runtime/workspace.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "engine/base/assert.h"

namespace tw::runtime {

namespace {

constexpr int64_t kFirstChunk = 64 * 1024;
constexpr int64_t kMaxSlack = int64_t{16} << 20;
constexpr size_t kHugePage = size_t{2} << 20;

void print_and_abort(int64_t bytes) {
  std::fprintf(stderr, "Out of memory: a kernel asked for %lld bytes of workspace\n", static_cast<long long>(bytes));
  std::abort();
}
std::atomic<WorkspaceFailure> failure{&print_and_abort};

int64_t round_up(int64_t n) { return (n + kArrayAlign - 1) / kArrayAlign * kArrayAlign; }

/// A stack of blocks in a few chunks. Once it is empty again, its chunks become one that holds them all.
class Stack {
 public:
  void* push(int64_t bytes) {
    const int64_t size = round_up(std::max<int64_t>(bytes, 1));
    if (chunks_.empty() || chunks_.back().used + size > chunks_.back().size) {
      const int64_t last = chunks_.empty() ? kFirstChunk / 2 : chunks_.back().size;
      if (!grow(std::max(size, std::min(2 * last, kMaxSlack))) && !grow(size)) return nullptr;
    }
    Chunk& chunk = chunks_.back();
    void* p = chunk.memory.get() + chunk.used;
    chunk.used += size;
    blocks_.push_back({size, chunks_.size() - 1});
    return p;
  }

  void pop(void* p) {
    TW_ASSERT(!blocks_.empty(), "workspace freed twice");
    const Block block = blocks_.back();
    blocks_.pop_back();
    Chunk& chunk = chunks_[block.chunk];
    chunk.used -= block.size;
    TW_ASSERT(chunk.memory.get() + chunk.used == p, "workspace not freed in reverse order");
    if (blocks_.empty() && chunks_.size() > 1) merge();
  }

 private:
  struct Chunk {
    AlignedBytes memory;
    int64_t size, used;
  };
  struct Block {
    int64_t size;
    size_t chunk;
  };

  bool grow(int64_t size) {
    AlignedBytes memory = allocate_aligned(round_up(size));
    if (!memory) return false;
    chunks_.push_back({std::move(memory), round_up(size), 0});
    return true;
  }

  void merge() {
    int64_t total = 0;
    for (const Chunk& chunk : chunks_) total += chunk.size;
    chunks_.clear();
    grow(total);  // if this fails, the next push tries a smaller one
  }

  std::vector<Chunk> chunks_;
  std::vector<Block> blocks_;
};

thread_local Stack stack;

}  // namespace

void* workspace_alloc(void*, int64_t bytes) {
  void* p = stack.push(bytes);
  if (p == nullptr) {
    failure.load()(bytes);
    std::abort();
  }
  return p;
}

void workspace_free(void*, void* p) { stack.pop(p); }

void set_workspace_failure(WorkspaceFailure handler) { failure = handler; }

void AlignedFree::operator()(std::byte* p) const { munmap(p, bytes); }

AlignedBytes allocate_aligned(int64_t bytes) {
  const size_t size = std::max<size_t>(static_cast<size_t>(bytes), 1);
  const bool huge = size >= kHugePage;
  // Only what begins and ends at the borders of huge pages lies in nothing else; older systems begin anywhere.
  const size_t whole = huge ? (size + kHugePage - 1) / kHugePage * kHugePage : size, mapped = huge ? whole + kHugePage : whole;
  void* p = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED) return {};
  auto* start = static_cast<std::byte*>(p);
  if (huge) {
    const size_t before = (kHugePage - reinterpret_cast<uintptr_t>(p) % kHugePage) % kHugePage;
    if (before > 0) munmap(start, before);
    munmap(start + before + whole, kHugePage - before);
    start += before;
    madvise(start, whole, MADV_HUGEPAGE);  // only a hint
  }
  return AlignedBytes(start, AlignedFree{whole});
}

}  // namespace tw::runtime
