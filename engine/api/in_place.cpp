// SPDX-License-Identifier: Apache-2.0
#include "engine/api/in_place.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "engine/base/text.h"
#include "engine/measure/weights.h"
#include "engine/target/target.h"

namespace tw::api {

namespace {

constexpr double kWorthExplaining = 0.1, kWorthNaming = 0.05;

bool changes_layout(const runtime::Call& call) { return call.task_key.empty(); }

bool uses(const runtime::Call& call, int slot) { return std::find(call.slots.begin(), call.slots.end(), slot) != call.slots.end(); }

const runtime::KernelSignature* signature_of(const runtime::Executable& e, const std::string& symbol) {
  for (const runtime::KernelSignature& k : e.artifact.kernels)
    if (k.name == symbol) return &k;
  return nullptr;
}

bool has_layouts(const runtime::KernelSignature& k) {
  return std::any_of(k.args.begin(), k.args.end(), [](const runtime::ArgSpec& a) { return !a.layout.empty(); });
}

int64_t constant_bytes(const runtime::Executable& e) {
  int64_t bytes = 0;
  for (const runtime::Slot& s : e.slots) bytes += s.kind == runtime::Slot::Kind::constant ? s.spec.physical_bytes() : 0;
  return bytes;
}

/// Of intermediates, each once.
double moved_bytes(const runtime::Executable& e, const runtime::Call& call) {
  double bytes = 0;
  for (const int s : std::set<int>(call.slots.begin(), call.slots.end())) {
    const runtime::Slot& slot = e.slots[static_cast<size_t>(s)];
    if (slot.kind == runtime::Slot::Kind::intermediate) bytes += static_cast<double>(slot.spec.physical_bytes());
  }
  return bytes;
}

bool has_constants(const runtime::Executable& e, const runtime::Call& call) {
  return std::any_of(call.slots.begin(), call.slots.end(), [&](int s) { return e.slots[static_cast<size_t>(s)].kind == runtime::Slot::Kind::constant; });
}

}  // namespace

std::vector<LayoutChange> layout_changes(const runtime::Executable& e) {
  std::vector<LayoutChange> changes;
  for (size_t c = 0; c < e.calls.size(); ++c) {
    if (!changes_layout(e.calls[c])) continue;
    LayoutChange change{static_cast<int>(c), {}};
    const int from = e.calls[c].slots.front(), to = e.calls[c].slots.back();
    bool written = e.slots[static_cast<size_t>(from)].kind != runtime::Slot::Kind::intermediate;
    for (size_t other = 0; other < e.calls.size(); ++other) {
      if (changes_layout(e.calls[other])) continue;
      // An array is written before it is read.
      const bool writes = !written && uses(e.calls[other], from);
      written |= writes;
      if (writes || uses(e.calls[other], to)) change.neighbours.push_back(static_cast<int>(other));
    }
    changes.push_back(std::move(change));
  }
  return changes;
}

std::vector<CallInPlace> calls_in_place(const runtime::Executable& e, std::span<const double> seconds, const std::vector<bool>& woke) {
  TW_ASSERT(seconds.size() == e.calls.size(), "a time for each call");
  const auto target = parse_target(e.target);
  const records::Weights here = target ? measure::weights_in_network(*target, constant_bytes(e)) : records::Weights::unknown;
  std::vector<CallInPlace> out;
  for (size_t c = 0; c < e.calls.size(); ++c) out.push_back({seconds[c], e.calls[c].alone_s, 0, {}});
  for (const LayoutChange& change : layout_changes(e))
    for (const int n : change.neighbours)
      out[static_cast<size_t>(n)].layouts_s += seconds[static_cast<size_t>(change.call)] / static_cast<double>(change.neighbours.size());
  for (size_t c = 0; c < e.calls.size(); ++c) {
    const runtime::Call& call = e.calls[c];
    CallInPlace& in = out[c];
    std::vector<std::string> reasons;
    if (in.alone_s > 0 && std::abs(in.seconds / in.alone_s - 1) > kWorthExplaining) {
      const bool slower = in.seconds > in.alone_s;
      if (slower && c < woke.size() && woke[c]) reasons.emplace_back("its threads have to be woken");
      const bool constants = has_constants(e, call);
      if (constants && slower && call.alone_weights == "warm" && here == records::Weights::cold)
        reasons.emplace_back("its weights come from memory, where the trial had them in the caches");
      if (constants && !slower && call.alone_weights == "cold" && here == records::Weights::warm)
        reasons.emplace_back("its weights stay in the caches, where the trial had them in memory");
      if (slower && call.flops < moved_bytes(e, call)) reasons.emplace_back("moves more than it computes, and its inputs lie where other kernels wrote them");
      const runtime::KernelSignature* signature = call.space == "rule" ? signature_of(e, call.symbol) : nullptr;
      if (signature != nullptr && has_layouts(*signature)) reasons.emplace_back("scheduled for the layouts around it, which the trial did not have");
    }
    if (in.layouts_s > kWorthNaming * in.seconds) reasons.push_back(fmt::format("{} of layout changes beside it", si_text(in.layouts_s, "s")));
    in.reason = fmt::format("{}", fmt::join(reasons, "; "));
  }
  return out;
}

}  // namespace tw::api
