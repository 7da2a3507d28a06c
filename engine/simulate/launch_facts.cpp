// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/launch_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "engine/arith/analyzer.h"
#include "engine/base/hash.h"
#include "engine/simulate/access.h"
#include "engine/simulate/lane_values.h"
#include "engine/simulate/thread_needs.h"
#include "engine/target/gpu.h"
#include "engine/tir/launches.h"
#include "engine/tir/visit.h"

namespace tw::simulate {

namespace {

using ir::BinaryOp;
using ir::Expr;
using target::kWarp;
using tir::ForKind;
using tir::Stmt;

constexpr int kSampledBlocks = 4, kSampledWarps = 4;
/// Turns of a loop without a barrier whose loads a compiler starts together.
constexpr double kUnrolledByCompiler = 4;
/// Registers of addresses, counters and what the hardware reserves; measured with ptxas 13.0 on matrix products.
constexpr int kBaseRegisters = 24;
constexpr int kInstructionBytes = 16;
/// Conversions run at the rate of special functions or twice it.
constexpr double kConversion = 0.5;

/// Block x, y, z, thread x, y, z: where no loop is bound to one, its variable is null.
struct Coordinate {
  const ir::VarNode* var = nullptr;
  int64_t extent = 1;
};
size_t index_of(ForKind kind) { return static_cast<size_t>(kind) - static_cast<size_t>(ForKind::block_x); }

/// A loop around what is looked at, at one of its turns.
struct Turn {
  const ir::VarNode* var;
  double count;      ///< turns that this one stands for
  double extent;     ///< of the loop
  int sample;        ///< which of the turns looked at
  bool written_out;  ///< unrolled or virtual threads: no loop in machine code
  bool barrier;      ///< inside
  const std::unordered_set<const ir::BufferNode*>* stored;
};

/// What is known of a loop's body before it is walked.
struct BodyFacts {
  bool barrier = false, tested = false;  ///< tested: some condition inside uses the variable
  std::unordered_set<const ir::BufferNode*> stored;
};

class Collector {
 public:
  Collector(const tir::Launch& launch, LaunchFacts& facts) : program_(launch.body), facts_(facts), ahead_(groups_ahead(launch.body)) {
    for (size_t d = 0; d < 3; ++d) {
      facts_.grid[d] = at_[d].extent = launch.grid[d];
      facts_.block[d] = static_cast<int>(at_[3 + d].extent = launch.block[d]);
    }
    for (const tir::Launch::Coordinate& c : launch.coordinates) at_[index_of(c.kind)].var = c.var.get();
    facts_.shared_bytes = launch.shared_bytes();
  }

  void run() {
    const int64_t blocks = facts_.blocks();
    const int warps = facts_.warps();
    const int64_t some_blocks = std::min<int64_t>(blocks, kSampledBlocks);
    const int some_warps = std::min(warps, kSampledWarps);
    share_ = 1.0 / static_cast<double>(some_blocks * some_warps);
    for (int64_t b = 0; b < some_blocks; ++b)
      for (int w = 0; w < some_warps; ++w) {
        first_ = b == 0 && w == 0;
        enter((2 * b + 1) * blocks / (2 * some_blocks), w * warps / some_warps);
        walk(program_);
        count_accesses();
      }
    finish();
  }

 private:
  void enter(int64_t block, int warp) {
    const int64_t bx = block % facts_.grid[0], by = block / facts_.grid[0] % facts_.grid[1], bz = block / facts_.grid[0] / facts_.grid[1];
    active_ = 0;
    seen_.clear();
    rounds_.clear();
    epoch_ = 0;
    Lanes at[6];
    for (int lane = 0; lane < kWarp; ++lane) {
      const auto l = static_cast<size_t>(lane);
      const int id = warp * kWarp + lane;
      if (id < facts_.threads()) active_ |= 1u << lane;
      at[0][l] = bx, at[1][l] = by, at[2][l] = bz;
      at[3][l] = id % facts_.block[0];
      at[4][l] = id / facts_.block[0] % facts_.block[1];
      at[5][l] = id / facts_.block[0] / facts_.block[1] % facts_.block[2];
    }
    for (int d = 0; d < 6; ++d)
      if (at_[static_cast<size_t>(d)].var) values_.vars[at_[static_cast<size_t>(d)].var] = at[d];
  }

  const BodyFacts& body_facts(const tir::ForNode& n) {
    const auto [it, made] = body_facts_.try_emplace(&n);
    if (!made) return it->second;
    BodyFacts& f = it->second;
    const auto tests = [&](const Expr& cond) { f.tested = f.tested || uses(cond).contains(n.var.get()); };
    tir::walk(n.body, [&](const Stmt& s) {
      f.barrier = f.barrier || tir::as<tir::SyncNode>(s) || tir::as<tir::AllReduceNode>(s) || tir::as<tir::WaitNode>(s);
      if (const auto* st = tir::as<tir::StoreNode>(s)) f.stored.insert(st->buffer.get());
      if (const auto* i = tir::as<tir::IfNode>(s)) tests(i->cond);
    });
    tir::walk_exprs(n.body, [&](const Expr& root) {
      ir::walk(root, [&](const Expr& e) {
        if (const auto* s = ir::as<ir::SelectNode>(e)) tests(s->cond);
      });
    });
    return f;
  }

  /// Variables that a value depends on, those behind lets included.
  const std::unordered_set<const ir::VarNode*>& uses(const Expr& e) {
    const auto [it, made] = uses_.try_emplace(e.get());
    if (!made) return it->second;
    std::unordered_set<const ir::VarNode*> found;
    ir::walk(e, [&](const Expr& x) {
      const auto* v = ir::as<ir::VarNode>(x);
      if (!v) return;
      if (const auto let = let_uses_.find(v); let != let_uses_.end())
        found.insert(let->second.begin(), let->second.end());
      else
        found.insert(v);
    });
    return uses_[e.get()] = std::move(found);
  }

  void walk(const Stmt& s) {
    if (active_ == 0) return;
    tir::match(
        s, [&](const tir::ForNode& n) { loop(n); }, [&](const tir::StoreNode& n) { store(n); }, [&](const tir::AllocNode& n) { walk(n.body); },
        [&](const tir::LetNode& n) {
          count_value(n.value, false);
          let_uses_[n.var.get()] = uses(n.value);
          values_.vars[n.var.get()] = values_.of(n.value);
          walk(n.body);
        },
        [&](const tir::IfNode& n) { branch(n); },
        [&](const tir::SeqNode& n) {
          for (const Stmt& c : n.stmts) walk(c);
        },
        [&](const tir::SyncNode&) {
          facts_.barriers += share_ * turns();
          facts_.control += share_ * turns();
          ++epoch_;
        },
        [&](const tir::AllReduceNode& n) {
          const double steps = std::ceil(std::log2(std::max<double>(2, static_cast<double>(at_[index_of(n.thread)].extent))));
          facts_.special += share_ * turns() * steps;
          facts_.fp32 += share_ * turns() * steps;
          if (facts_.warps() > 1) facts_.barriers += share_ * turns() * 2;
          ++epoch_;
        },
        [&](const tir::AsyncNode& n) {
          in_group_ = true;
          walk(n.body);
          in_group_ = false;
          facts_.control += share_ * turns();
        },
        [&](const tir::WaitNode&) { facts_.control += share_ * turns(); }, [&](const tir::MmaNode& n) { product(n); });
  }

  /// Groups that are under way while a thread works on what it waited for.
  static int groups_ahead(const Stmt& s) {
    int most = 0;
    tir::walk(s, [&](const Stmt& x) {
      if (const auto* w = tir::as<tir::WaitNode>(x)) most = std::max(most, w->pending + 1);
    });
    return most;
  }

  /// ldmatrix fetches four tiles of 8 by 16 bytes, one address a lane, and every tile of A serves all columns. Lines of other than 16 bits that lie along the
  /// terms are fetched element by element.
  void product(const tir::MmaNode& n) {
    const double times = share_ * turns();
    const DType type = n.a.first->dtype;
    const int steps = n.depth / target::mma_depth(type, n.b.first->dtype);
    facts_.tensor += times * n.rows * n.columns * n.depth * type.bytes() / 2;
    const double instructions = static_cast<double>(n.rows / 16) * (n.columns / 8) * steps;  // mma.sync.m16n8
    facts_.tensor_instructions += times * instructions;
    double fetches = 0;
    for (const tir::MmaOperand* o : {&n.a, &n.b}) {
      const int lines = o == &n.a ? n.rows : n.columns;
      const auto& first = *ir::as<ir::LoadNode>(o->first);
      const int bytes = first.dtype.bytes(), width = static_cast<int>(tir::kMmaLine) / bytes;
      const bool fetched = !o->by_depth || bytes == 2;
      WarpAccess warp{.at = values_.of(place_of(first.buffer, first.indices, first.dtype).base), .active = ~0u, .bytes = fetched ? 16 : bytes};
      for (int lane = 0; lane < kWarp; ++lane) {
        const int64_t offset = !fetched      ? lane % 4 * (width / 4) * o->stride + lane / 4
                               : o->by_depth ? lane % 16 * o->stride + lane / 16 * 8
                                             : lane % 16 * o->stride + lane / 16 * width;
        warp.at[static_cast<size_t>(lane)] = (warp.at[static_cast<size_t>(lane)] + offset) * bytes;
      }
      const double tiles = std::ceil(lines / 16.0) * steps, here = fetched ? tiles : tiles * width;
      fetches += here;
      facts_.shared_access += times * here;
      facts_.shared_wavefronts += times * here * wavefronts(warp);
      if (!fetched && bytes == 1) facts_.integer += times * tiles * 12;      // bytes into words
      if (first.dtype == kFloat32) facts_.special += times * tiles * 4 / 2;  // conversions, as in count_value
      if (first_) fragments_ += lines / 4.0;
    }
    if (first_) code_ += copies() * (instructions + 2 * fetches);
  }

  void loop(const tir::ForNode& n) {
    const auto extent = ir::as_int(n.extent);
    const int64_t count = extent ? *extent : std::max<int64_t>(1, values_.of(n.extent)[0]);
    if (count <= 0) return;
    const BodyFacts& body = body_facts(n);
    const bool written_out = tir::is_unrolled(n.for_kind) || n.for_kind == ForKind::vthread || n.for_kind == ForKind::vectorized;
    const Lanes min = values_.of(n.min);
    // One turn stands for all, unless a condition asks which: then the first and the last stand for themselves.
    std::vector<std::pair<int64_t, double>> turns_at;
    if (body.tested && count > 2)
      turns_at = {{0, 1}, {count / 2, static_cast<double>(count - 2)}, {count - 1, 1}};
    else if (body.tested)
      for (int64_t k = 0; k < count; ++k) turns_at.emplace_back(k, 1);
    else
      turns_at = {{count / 2, static_cast<double>(count)}};
    int sample = 0;
    for (const auto& [turn, stands_for] : turns_at) {
      Lanes at = min;
      for (int64_t& v : at) v += turn;
      values_.vars[n.var.get()] = at;
      stack_.push_back({n.var.get(), stands_for, static_cast<double>(count), sample++, written_out, body.barrier, &body.stored});
      if (!written_out) {
        facts_.integer += share_ * turns();
        facts_.control += share_ * turns();
      }
      walk(n.body);
      stack_.pop_back();
    }
  }

  void branch(const tir::IfNode& n) {
    const uint32_t outer = active_;
    count_value(n.cond, false);
    uint32_t taken = outer;
    if (n.cond->dtype.is_scalar()) {
      const Lanes c = values_.of(n.cond);
      for (int lane = 0; lane < kWarp; ++lane)
        if (c[static_cast<size_t>(lane)] == 0) taken &= ~(1u << lane);
    }
    active_ = taken;
    walk(n.then_body);
    active_ = outer & ~taken;
    if (n.else_body) walk(*n.else_body);
    active_ = outer;
  }

  void store(const tir::StoreNode& n) {
    count_value(n.value, false);
    for (const Expr& i : n.indices) count_loads(i);
    if (n.buffer->scope != ir::Scope::local) access(n.buffer, n.indices, n.value->dtype, true, &n);
  }

  /// How often the code here runs in a warp.
  double turns() const {
    double n = 1;
    for (const Turn& t : stack_) n *= t.count;
    return n;
  }
  /// How often it stands in the machine code.
  double copies() const {
    double n = 1;
    for (const Turn& t : stack_)
      if (t.written_out) n *= t.count;
    return n;
  }

  /// Arithmetic and loads of a value. `fused`: an addition of this product, one instruction with it, is counted already.
  void count_value(const Expr& e, bool fused) {
    const double n = share_ * turns() * e->dtype.lanes;
    const auto arithmetic = [&](DType t, double instructions) {
      if (t.is_float())
        (t.bits == 64 ? facts_.fp64 : t.bits == 16 ? facts_.fp16 : facts_.fp32) += n * instructions * (t.bits == 16 ? 0.5 : 1);
      else
        facts_.integer += n * instructions;
      if (first_) code_ += copies() * instructions * e->dtype.lanes;
    };
    ir::match(
        e, [](const ir::IntImmNode&) {}, [](const ir::FloatImmNode&) {}, [](const ir::VarNode&) {},
        [&](const ir::CastNode& c) {
          const auto* l = ir::as<ir::LoadNode>(c.value);
          if (l && l->buffer->scope != ir::Scope::local) return load(*l, kConversion);  // once for all that use it, as it is fetched
          facts_.special += n * kConversion;
          count_value(c.value, false);
        },
        [&](const ir::NotNode& c) { count_value(c.value, false); },
        [&](const ir::BinaryNode& b) {
          const bool is_float = b.a->dtype.is_float(), sum = b.op == BinaryOp::add || b.op == BinaryOp::sub;
          const auto is_product = [](const Expr& x) {
            const auto* p = ir::as<ir::BinaryNode>(x);
            return p && p->op == BinaryOp::mul && p->dtype.is_float();
          };
          const bool with_a = is_float && sum && is_product(b.a), with_b = is_float && sum && !with_a && is_product(b.b);
          if (is_float && b.op == BinaryOp::div) {
            facts_.special += n;
            arithmetic(b.a->dtype, 8);
          } else if (!fused) {
            arithmetic(b.a->dtype, 1);
          }
          count_value(b.a, with_a);
          count_value(b.b, with_b);
        },
        [&](const ir::SelectNode& s) {
          arithmetic(kInt32, 1);
          count_value(s.cond, false);
          // Lazy: what no thread of the warp chooses costs nothing.
          const uint32_t outer = active_;
          uint32_t taken = outer;
          if (s.cond->dtype.is_scalar()) {
            const Lanes c = values_.of(s.cond);
            for (int lane = 0; lane < kWarp; ++lane)
              if (c[static_cast<size_t>(lane)] == 0) taken &= ~(1u << lane);
          }
          if ((active_ = taken) != 0) count_value(s.if_true, false);
          if ((active_ = s.cond->dtype.is_scalar() ? outer & ~taken : outer) != 0) count_value(s.if_false, false);
          active_ = outer;
        },
        [&](const ir::LoadNode& l) { load(l, 0); }, [&](const ir::RampNode& r) { count_value(r.base, false); },
        [&](const ir::BroadcastNode& b) { count_value(b.value, false); },
        [&](const ir::CallNode& c) {
          const bool cheap = c.function == ir::Intrinsic::fabs || c.function == ir::Intrinsic::floor || c.function == ir::Intrinsic::ceil ||
                             c.function == ir::Intrinsic::trunc || c.function == ir::Intrinsic::round;
          if (!cheap) facts_.special += n;
          arithmetic(c.dtype, cheap ? 1 : 6);
          for (const Expr& a : c.args) count_value(a, false);
        });
  }
  /// With so many special functions on each element that is fetched.
  void load(const ir::LoadNode& l, double special) {
    for (const Expr& i : l.indices) count_loads(i);
    if (l.buffer->scope != ir::Scope::local) access(l.buffer, l.indices, l.dtype, false, nullptr, special);
  }
  /// Of an index only what it reads counts: the arithmetic of addresses is counted with the access.
  void count_loads(const Expr& index) {
    ir::walk(index, [&](const Expr& e) {
      if (const auto* l = ir::as<ir::LoadNode>(e)) access(l->buffer, l->indices, l->dtype, false, nullptr);
    });
  }

  struct Place {
    Expr base;                                                       ///< in elements
    int bytes;                                                       ///< of each thread
    int pieces;                                                      ///< separate accesses of that size
    std::vector<std::pair<const ir::VarNode*, int64_t>> steps = {};  ///< elements from one turn of a loop to the next
  };
  static Place place_of(const ir::Buffer& buffer, const std::vector<Expr>& indices, DType t) {
    Expr flat = ir::index(0);
    int lanes = t.lanes;
    bool together = true;
    for (size_t d = 0; d < indices.size(); ++d) {
      Expr i = indices[d];
      if (const auto* r = ir::as<ir::RampNode>(i)) {
        together = ir::is_int(r->stride, 1) && d + 1 == indices.size();
        i = r->base;
      } else if (const auto* b = ir::as<ir::BroadcastNode>(i)) {
        i = b->value;
      }
      flat = d == 0 ? i : flat * buffer->shape[d] + i;
    }
    const int element = buffer->dtype.bytes();
    if (!together || lanes * element > 16) return {flat, element, lanes};
    return {flat, lanes * element, 1};
  }

  void access(const ir::Buffer& buffer, const std::vector<Expr>& indices, DType t, bool is_store, const tir::StoreNode* store, double special = 0) {
    const auto key = store ? static_cast<const void*>(store) : static_cast<const void*>(indices.empty() ? nullptr : indices.back().get());
    auto found = places_.find(key);
    if (found == places_.end()) {
      found = places_.emplace(key, place_of(buffer, indices, t)).first;
      for (const auto& term : arith::Analyzer().linear(found->second.base).terms)
        if (const auto* v = ir::as<ir::VarNode>(term.atom)) found->second.steps.emplace_back(v, term.coeff);
    }
    const Place& place = found->second;
    const auto& used = uses(place.base);

    // Loops that a compiler moves the access out of, and copies of it that are the same, count once.
    double times = 1, rounds = 1;
    uint64_t path = static_cast<uint64_t>(epoch_) + 1;
    bool hoisted = true;
    for (size_t k = 0; k < stack_.size(); ++k) {
      const Turn& turn = stack_[k];
      const bool varies = is_store || used.contains(turn.var) || (!turn.written_out && (turn.barrier || turn.stored->contains(buffer.get())));
      if (!varies) continue;
      times *= turn.count;
      if (!turn.written_out) {
        rounds *= turn.barrier ? turn.count : std::max(1.0, turn.count / kUnrolledByCompiler);
        hoisted = false;
      }
      path = hash_combine(path, k * 4 + static_cast<uint64_t>(turn.sample));
    }
    WarpAccess warp{.at = values_.of(place.base), .active = active_, .bytes = place.bytes};
    for (int64_t& a : warp.at) a *= buffer->dtype.bytes();
    const double elements = share_ * times * t.lanes;
    if (place.pieces == 1) times /= join_turns(place, buffer->dtype.bytes(), warp);
    const uint64_t content = hash_combine(hash_combine(static_cast<uint64_t>(warp.at[first_lane()]), static_cast<uint64_t>(warp.at[last_lane()])),
                                          hash_combine(hash_combine(path, stable_hash(buffer->name)), is_store));
    if (!seen_.insert(content).second) return;
    facts_.special += elements * special;
    const bool shared = buffer->scope == ir::Scope::shared;
    pending_.push_back({buffer.get(), path, is_store, warp, share_ * times * place.pieces, hoisted, std::max(1.0, times * copies() / std::max(1.0, turns())),
                        in_group_ && is_store});
    if (!is_store && !shared && rounds_.insert(path).second) facts_.dependent_loads += share_ * rounds / (in_group_ ? 1 + ahead_ : 1);
    if (first_ && !is_store && !in_group_) (shared ? live_loads_ : staged_) += copies_of(used) * place.bytes / 4;
    if (first_ && !shared) touch(buffer, place, used);
  }

  /// A compiler joins neighbours that the turns of a written-out loop take into accesses of up to 16 bytes, where they are aligned. Makes `warp` one of those;
  /// the number of turns that it stands for.
  double join_turns(const Place& place, int element, WarpAccess& warp) const {
    for (const Turn& turn : stack_) {
      const auto step = std::find_if(place.steps.begin(), place.steps.end(), [&](const auto& s) { return s.first == turn.var; });
      if (!turn.written_out || turn.count < turn.extent || step == place.steps.end() || step->second * element != warp.bytes) continue;
      const int64_t at = values_.vars.at(turn.var)[first_lane()];
      for (const int n : {4, 2}) {
        if (std::fmod(turn.extent, n) != 0 || n * warp.bytes > 16) continue;
        WarpAccess joined = warp;
        for (int64_t& a : joined.at) a -= at % n * warp.bytes;
        joined.bytes *= n;
        if (!aligned(joined, joined.bytes)) continue;
        warp = joined;
        return n;
      }
    }
    return 1;
  }

  size_t first_lane() const { return static_cast<size_t>(std::countr_zero(active_)); }
  size_t last_lane() const { return static_cast<size_t>(kWarp - 1 - std::countl_zero(active_)); }

  struct Pending {
    const ir::BufferNode* buffer;
    uint64_t path;
    bool is_store;
    WarpAccess warp;
    double times;
    bool hoisted;
    double copies;  ///< in the machine code
    bool copied;    ///< to shared memory without an instruction of its own
  };

  /// Accesses of a warp whose elements lie together in every thread become one of up to 16 bytes, as a compiler makes them where they are aligned.
  void count_accesses() {
    std::stable_sort(pending_.begin(), pending_.end(), [](const Pending& a, const Pending& b) {
      const auto key = [](const Pending& p) {
        return std::tuple(p.buffer, p.is_store, p.path, p.warp.active, p.warp.at[static_cast<size_t>(std::countr_zero(p.warp.active))]);
      };
      return key(a) < key(b);
    });
    for (size_t i = 0; i < pending_.size();) {
      size_t n = 1;
      while (i + n < pending_.size() && continues(pending_[i + n - 1], pending_[i + n])) ++n;
      for (const size_t end = i + n; i < end;) {
        Pending p = pending_[i];
        size_t joined = 1;
        for (const size_t wanted : {4, 2})
          if (joined == 1 && i + wanted <= end && static_cast<int>(wanted) * p.warp.bytes <= 16 && aligned(p.warp, static_cast<int64_t>(wanted) * p.warp.bytes))
            joined = wanted;
        p.warp.bytes *= static_cast<int>(joined);
        count(p);
        i += joined;
      }
    }
    pending_.clear();
  }
  static bool continues(const Pending& a, const Pending& b) {
    if (a.buffer != b.buffer || a.is_store != b.is_store || a.path != b.path || a.warp.active != b.warp.active || a.warp.bytes != b.warp.bytes) return false;
    for (size_t lane = 0; lane < a.warp.at.size(); ++lane)
      if (a.warp.active >> lane & 1 && b.warp.at[lane] != a.warp.at[lane] + a.warp.bytes) return false;
    return true;
  }
  static bool aligned(const WarpAccess& a, int64_t bytes) {
    for (size_t lane = 0; lane < a.at.size(); ++lane)
      if (a.active >> lane & 1 && a.at[lane] % bytes != 0) return false;
    return true;
  }

  void count(const Pending& p) {
    const bool shared = p.buffer->scope == ir::Scope::shared;
    if (!p.copied) {
      (shared ? facts_.shared_access : facts_.global_access) += p.times;
      if (!p.hoisted) facts_.integer += p.times;
      if (first_) code_ += 2 * p.copies;
    }
    if (shared) {
      facts_.shared_wavefronts += p.times * wavefronts(p.warp);
      return;
    }
    (p.is_store ? facts_.store_sectors : facts_.load_sectors) += p.times * sectors(p.warp);
    if (!p.is_store) facts_.load_lines += p.times * lines(p.warp);
  }

  /// Copies of an access in written-out loops that its address depends on.
  double copies_of(const std::unordered_set<const ir::VarNode*>& used) const {
    double n = 1;
    for (const Turn& t : stack_)
      if (t.written_out && used.contains(t.var)) n *= t.extent;
    return n;
  }

  struct Touched {
    ir::Buffer buffer;
    double block_elements = 0, elements = 0;  ///< summed over the accesses
    int64_t block_low = 0, block_high = -1, low = 0, high = -1;
    bool depends[3] = {};
  };

  void touch(const ir::Buffer& buffer, const Place& place, const std::unordered_set<const ir::VarNode*>& used) {
    double inside = static_cast<double>(place.bytes) / buffer->dtype.bytes() * place.pieces, all = inside;
    arith::Analyzer block, grid;
    for (const Turn& t : stack_) {
      if (used.contains(t.var)) inside *= t.extent, all *= t.extent;
      for (arith::Analyzer* a : {&block, &grid}) a->bind(t.var, {0, static_cast<int64_t>(t.extent) - 1});
    }
    for (int d = 0; d < 6; ++d) {
      const Coordinate& c = at_[static_cast<size_t>(d)];
      if (!c.var) continue;
      const bool here = used.contains(c.var);
      if (here) all *= static_cast<double>(c.extent);
      if (here && d >= 3) inside *= static_cast<double>(c.extent);
      grid.bind(c.var, {0, c.extent - 1});
      block.bind(c.var, d >= 3 ? arith::Bounds{0, c.extent - 1} : arith::Bounds{0, 0});
    }
    auto it = std::find_if(touched_.begin(), touched_.end(), [&](const Touched& t) { return t.buffer.same_as(buffer); });
    if (it == touched_.end()) it = touched_.insert(it, Touched{buffer});
    it->block_elements += inside;
    it->elements += all;
    for (int d = 0; d < 3; ++d) it->depends[d] = it->depends[d] || (at_[static_cast<size_t>(d)].var && used.contains(at_[static_cast<size_t>(d)].var));
    const auto widen = [&](const arith::Bounds& b, int64_t& low, int64_t& high) {
      const int64_t from = b.finite() ? std::max<int64_t>(0, b.lo) : 0,
                    to = b.finite() ? std::min(b.hi, buffer->num_elements() - 1) : buffer->num_elements() - 1;
      if (high < low)
        low = from, high = to;
      else
        low = std::min(low, from), high = std::max(high, to);
    };
    widen(block.bounds(place.base), it->block_low, it->block_high);
    widen(grid.bounds(place.base), it->low, it->high);
  }

  void finish() {
    // R = results + 2 * (rows + columns of operands) + staged loads + base: 24 of 28 matrix products compiled with ptxas 13.0 lie within 15 registers of it.
    const ThreadNeeds needs = thread_needs(program_);
    const auto local = static_cast<double>(needs.local_registers), largest = static_cast<double>(needs.largest_registers);
    const double operands = std::min(live_loads_, 4 * std::ceil(std::sqrt(largest)));
    facts_.registers = static_cast<int>(local + std::max(0.0, operands - (local - largest)) + std::min(staged_, 32.0) + fragments_) + kBaseRegisters;
    facts_.code_bytes = static_cast<int64_t>(code_ * kInstructionBytes);
    for (const Touched& t : touched_) {
      const auto bytes = [&](double elements, int64_t low, int64_t high) {
        return static_cast<int64_t>(std::min(elements, static_cast<double>(high - low + 1))) * t.buffer->dtype.bytes();
      };
      ArrayTraffic a{.name = t.buffer->name, .bytes = bytes(t.elements, t.low, t.high), .block_bytes = bytes(t.block_elements, t.block_low, t.block_high)};
      std::copy(std::begin(t.depends), std::end(t.depends), std::begin(a.depends));
      facts_.arrays.push_back(a);
    }
  }

  const Stmt& program_;
  std::array<Coordinate, 6> at_;
  LaunchFacts& facts_;
  LaneValues values_;
  std::unordered_map<const ir::VarNode*, std::unordered_set<const ir::VarNode*>> let_uses_;
  std::unordered_map<const ir::ExprNode*, std::unordered_set<const ir::VarNode*>> uses_;
  std::unordered_map<const tir::ForNode*, BodyFacts> body_facts_;
  std::unordered_map<const void*, Place> places_;  ///< by statement of a store or last index of a load
  std::vector<Turn> stack_;
  std::vector<Pending> pending_;                ///< accesses of the warp so far
  std::unordered_set<uint64_t> seen_, rounds_;  ///< accesses and rounds of loads of the warp so far
  std::vector<Touched> touched_;
  uint32_t active_ = 0;
  bool first_ = true;
  int epoch_ = 0;          ///< barriers passed so far, as written
  bool in_group_ = false;  ///< of copies beside other work
  int ahead_;              ///< groups under way at most
  double fragments_ = 0;   ///< registers of the operands of products by a warp
  double share_ = 1;
  double live_loads_ = 0, staged_ = 0, code_ = 0;
};

}  // namespace

Expected<std::vector<LaunchFacts>> launch_facts(const tir::Func& f) {
  TW_TRY(const tir::LaunchList list, tir::split_launches(f));
  std::vector<LaunchFacts> out;
  for (const tir::Launch& launch : list.launches) {
    LaunchFacts facts;
    Collector(launch, facts).run();
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace tw::simulate
