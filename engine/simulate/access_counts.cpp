// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/access_counts.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>

#include "engine/arith/analyzer.h"
#include "engine/base/hash.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::simulate {

namespace {

/// Turns of a loop without a barrier whose loads a compiler starts together.
constexpr double kUnrolledByCompiler = 4;

/// Groups that are under way while a thread works on what it waited for.
int groups_ahead(const tir::Stmt& s) {
  int most = 0;
  tir::walk(s, [&](const tir::Stmt& x) {
    if (const auto* w = tir::as<tir::WaitNode>(x)) most = std::max(most, w->pending + 1);
  });
  return most;
}

bool is_aligned(const WarpAccess& a, int64_t bytes) {
  for (size_t lane = 0; lane < a.at.size(); ++lane)
    if (a.active >> lane & 1 && a.at[lane] % bytes != 0) return false;
  return true;
}

size_t first_lane(uint32_t active) { return static_cast<size_t>(std::countr_zero(active)); }
size_t last_lane(uint32_t active) { return static_cast<size_t>(target::kWarp - 1 - std::countl_zero(active)); }

}  // namespace

AccessCounts::AccessCounts(WarpPath& path, const tir::Stmt& program, LaunchFacts& facts, MachineCode& code)
    : path_(path), facts_(facts), code_(code), ahead_(groups_ahead(program)) {}

void AccessCounts::enter() {
  seen_.clear();
  rounds_.clear();
}

void AccessCounts::load(const ir::LoadNode& l, double special) {
  for (const ir::Expr& i : l.indices) loads_in(i);
  if (l.buffer->scope != ir::Scope::local) access(l.buffer, l.indices, l.dtype, nullptr, special);
}

void AccessCounts::store(const tir::StoreNode& n) {
  for (const ir::Expr& i : n.indices) loads_in(i);
  if (n.buffer->scope != ir::Scope::local) access(n.buffer, n.indices, n.value->dtype, &n, 0);
}

void AccessCounts::loads_in(const ir::Expr& index) {
  ir::walk(index, [&](const ir::Expr& e) {
    if (const auto* l = ir::as<ir::LoadNode>(e)) access(l->buffer, l->indices, l->dtype, nullptr, 0);
  });
}

const AccessCounts::Known& AccessCounts::known(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t, const tir::StoreNode* store) {
  const auto key = store ? static_cast<const void*>(store) : static_cast<const void*>(indices.empty() ? nullptr : indices.back().get());
  const auto found = known_.find(key);
  if (found != known_.end()) return found->second;
  Known& k = known_.emplace(key, Known{place_of(buffer, indices, t), {}}).first->second;
  for (const auto& term : arith::Analyzer().linear(k.place.base).terms)
    if (const auto* v = ir::as<ir::VarNode>(term.atom)) k.steps.emplace_back(v, term.coeff);
  return k;
}

void AccessCounts::access(const ir::Buffer& buffer, const std::vector<ir::Expr>& indices, DType t, const tir::StoreNode* store, double special) {
  const bool is_store = store != nullptr;
  const Known& known = this->known(buffer, indices, t, store);
  const Place& place = known.place;
  const VarSet& used = path_.uses(place.base);

  // Loops that a compiler moves the access out of, and copies of it that are the same, count once.
  double times = 1, rounds = 1;
  uint64_t path = static_cast<uint64_t>(path_.epoch) + 1;
  bool hoisted = true;
  for (size_t k = 0; k < path_.loops.size(); ++k) {
    const Turn& turn = path_.loops[k];
    const bool varies = is_store || used.contains(turn.var) || (!turn.written_out && (turn.barrier || turn.stored->contains(buffer.get())));
    if (!varies) continue;
    times *= turn.count;
    if (!turn.written_out) {
      rounds *= turn.barrier ? turn.count : std::max(1.0, turn.count / kUnrolledByCompiler);
      hoisted = false;
    }
    path = hash_combine(path, k * 4 + static_cast<uint64_t>(turn.sample));
  }
  WarpAccess warp{.at = path_.values.of(place.base), .active = path_.active, .bytes = place.bytes};
  for (int64_t& a : warp.at) a *= buffer->dtype.bytes();
  const double elements = path_.share() * times * t.lanes;
  if (place.pieces == 1) times /= join_turns(known, buffer->dtype.bytes(), warp);
  const uint64_t ends = hash_combine(static_cast<uint64_t>(warp.at[first_lane(warp.active)]), static_cast<uint64_t>(warp.at[last_lane(warp.active)]));
  const uint64_t content = hash_combine(ends, hash_combine(hash_combine(path, stable_hash(buffer->name)), is_store));
  if (!seen_.insert(content).second) return;
  facts_.special += elements * special;
  const bool shared = buffer->scope == ir::Scope::shared;
  const size_t number = numbers_.try_emplace(buffer.get(), numbers_.size()).first->second;
  pending_.push_back({buffer.get(), number, path, is_store, warp, path_.share() * times * place.pieces, hoisted,
                      std::max(1.0, times * path_.copies() / std::max(1.0, path_.repeats())), path_.in_group && is_store, path_.statement});
  if (!is_store && !shared && rounds_.insert(path).second) facts_.dependent_loads += path_.share() * rounds / (path_.in_group ? 1 + ahead_ : 1);
  if (!path_.first()) return;
  if (!is_store && !path_.in_group) (shared ? code_.operands : code_.staged) += path_.copies_of(used) * place.bytes / 4;
  if (!shared) arrays_.add(buffer, place, used, path_);
}

/// A compiler joins neighbours that the turns of a written-out loop take into accesses of up to 16 bytes, where they are aligned. Makes `warp` one of those;
/// the number of turns that it stands for.
double AccessCounts::join_turns(const Known& known, int element, WarpAccess& warp) const {
  for (const Turn& turn : path_.loops) {
    const auto step = std::find_if(known.steps.begin(), known.steps.end(), [&](const auto& s) { return s.first == turn.var; });
    if (!turn.written_out || turn.count < turn.extent || step == known.steps.end() || step->second * element != warp.bytes) continue;
    const int64_t at = path_.values.vars.at(turn.var)[first_lane(warp.active)];
    for (const int n : {4, 2}) {
      if (std::fmod(turn.extent, n) != 0 || n * warp.bytes > 16) continue;
      WarpAccess joined = warp;
      for (int64_t& a : joined.at) a -= at % n * warp.bytes;
      joined.bytes *= n;
      if (!is_aligned(joined, joined.bytes)) continue;
      warp = joined;
      return n;
    }
  }
  return 1;
}

void AccessCounts::count() {
  std::stable_sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
    const auto key = [](const Pending& p) { return std::tuple(p.number, p.is_store, p.path, p.warp.active, p.warp.at[first_lane(p.warp.active)]); };
    return key(a) < key(b);
  });
  for (size_t i = 0; i < pending_.size();) {
    size_t n = 1;
    while (i + n < pending_.size() && continues(pending_[i + n - 1], pending_[i + n])) ++n;
    for (const size_t end = i + n; i < end;) {
      Pending p = pending_[i];
      size_t joined = 1;
      for (const size_t wanted : {4, 2})
        if (joined == 1 && i + wanted <= end && static_cast<int>(wanted) * p.warp.bytes <= 16 &&
            is_aligned(p.warp, static_cast<int64_t>(wanted) * p.warp.bytes))
          joined = wanted;
      p.warp.bytes *= static_cast<int>(joined);
      count(p);
      i += joined;
    }
  }
  pending_.clear();
}

bool AccessCounts::continues(const Pending& a, const Pending& b) {
  if (a.buffer != b.buffer || a.is_store != b.is_store || a.path != b.path || a.warp.active != b.warp.active || a.warp.bytes != b.warp.bytes) return false;
  for (size_t lane = 0; lane < a.warp.at.size(); ++lane)
    if (a.warp.active >> lane & 1 && b.warp.at[lane] != a.warp.at[lane] + a.warp.bytes) return false;
  return true;
}

void AccessCounts::count(const Pending& p) {
  const bool shared = p.buffer->scope == ir::Scope::shared;
  StatementCounts& of = facts_.statements[p.statement];
  if (!p.copied) {
    (shared ? facts_.shared_access : facts_.global_access) += p.times;
    if (!p.hoisted) facts_.integer += p.times;
    of.instructions += p.times * (p.hoisted ? 1 : 2);
    if (path_.first()) code_.instructions += 2 * p.copies;
  }
  if (shared) {
    const double fronts = p.times * wavefronts(p.warp);
    facts_.shared_wavefronts += fronts;
    of.shared += fronts;
    return;
  }
  const double touched = p.times * sectors(p.warp), of_cache = p.is_store ? 0 : p.times * lines(p.warp);
  (p.is_store ? facts_.store_sectors : facts_.load_sectors) += touched;
  facts_.load_lines += of_cache;
  of.sectors += touched, of.shared += of_cache;
}

}  // namespace tw::simulate
