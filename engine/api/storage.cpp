// SPDX-License-Identifier: Apache-2.0
#include "engine/api/storage.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "engine/base/assert.h"
#include "engine/graph/plan_memory.h"
#include "engine/tir/share.h"

namespace tw::api {

namespace {

class Placement {
 public:
  Placement(std::span<const SlotUse> slots, std::span<const CallUse> calls) : slots_(slots), calls_(calls), owner_(slots.size()), life_(slots.size()) {
    std::iota(owner_.begin(), owner_.end(), 0);
    for (size_t s = 0; s < slots.size(); ++s) {
      int root = static_cast<int>(s);
      while (slots[static_cast<size_t>(root)].base >= 0) root = slots[static_cast<size_t>(root)].base;
      owner_[s] = root;
      life_[static_cast<size_t>(root)].members += 1;
    }
    for (size_t c = 0; c < calls.size(); ++c)
      for (const int s : calls[c].slots) life_[static_cast<size_t>(owner(s))].use(static_cast<int>(c));
  }

  StoragePlacement run() {
    for (size_t c = 0; c < calls_.size(); ++c) work_in_place(static_cast<int>(c));
    std::vector<graph::StorageRequest> requests;
    std::vector<int> request_of(slots_.size(), -1);
    StoragePlacement out;
    for (size_t s = 0; s < slots_.size(); ++s) {
      if (!slots_[s].placed) continue;
      if (slots_[s].base < 0) out.unplanned_bytes += slots_[s].bytes;
      const Life& l = life_[s];
      if (owner(static_cast<int>(s)) != static_cast<int>(s)) continue;
      TW_ASSERT(l.last >= 0, "an array that no kernel uses");
      request_of[s] = static_cast<int>(requests.size());
      requests.push_back({slots_[s].bytes, l.first, l.last});
    }
    const graph::StoragePlan plan = graph::plan_memory(requests);
    for (size_t s = 0; s < slots_.size(); ++s) {
      int64_t offset = 0;
      for (int at = static_cast<int>(s); slots_[static_cast<size_t>(at)].base >= 0; at = slots_[static_cast<size_t>(at)].base)
        offset += slots_[static_cast<size_t>(at)].offset;
      out.offsets.push_back(slots_[s].placed ? plan.offsets[static_cast<size_t>(request_of[static_cast<size_t>(owner(static_cast<int>(s)))])] + offset : -1);
    }
    out.arena_bytes = plan.arena_bytes;
    out.live_bytes = plan.live_bytes;
    return out;
  }

 private:
  /// Of the storage that an array owns: the first and last call that touch any part of it.
  struct Life {
    int first = -1, last = -1, members = 0;
    void use(int call) {
      first = first < 0 ? call : std::min(first, call);
      last = std::max(last, call);
    }
  };

  int owner(int s) const {
    while (owner_[static_cast<size_t>(s)] != s) s = owner_[static_cast<size_t>(s)];
    return s;
  }

  /// An array in the arena that shares its storage with no part.
  bool whole(int s) const {
    return slots_[static_cast<size_t>(s)].placed && slots_[static_cast<size_t>(s)].base < 0 && life_[static_cast<size_t>(s)].members == 1;
  }

  void work_in_place(int c) {
    const CallUse& call = calls_[static_cast<size_t>(c)];
    const size_t inputs = call.slots.size() - static_cast<size_t>(call.func->num_outputs);
    for (size_t o = inputs; o < call.slots.size(); ++o) {
      const int result = call.slots[o];
      if (!whole(result) || life_[static_cast<size_t>(result)].first != c) continue;
      for (size_t i = 0; i < inputs; ++i) {
        const int operand = call.slots[i], storage = owner(operand);
        const bool once = std::count_if(call.slots.begin(), call.slots.end(), [&](int s) { return owner(s) == storage; }) == 1;
        if (!whole(operand) || !once || life_[static_cast<size_t>(storage)].last != c ||
            slots_[static_cast<size_t>(operand)].bytes != slots_[static_cast<size_t>(result)].bytes || !allowed(*call.func, i, o))
          continue;
        owner_[static_cast<size_t>(result)] = storage;
        life_[static_cast<size_t>(storage)].last = life_[static_cast<size_t>(result)].last;
        break;
      }
    }
  }

  bool allowed(const tir::Func& f, size_t input, size_t output) {
    const auto [it, fresh] = known_.emplace(std::tuple(&f, input, output), false);
    if (fresh) it->second = tir::may_share_storage(f, input, output);
    return it->second;
  }

  std::span<const SlotUse> slots_;
  std::span<const CallUse> calls_;
  std::vector<int> owner_;  ///< per array, the one whose storage it uses, over one or more steps
  std::vector<Life> life_;  ///< per owner
  std::map<std::tuple<const tir::Func*, size_t, size_t>, bool> known_;
};

}  // namespace

StoragePlacement place_storage(std::span<const SlotUse> slots, std::span<const CallUse> calls) { return Placement(slots, calls).run(); }

}  // namespace tw::api
