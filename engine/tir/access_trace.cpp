// SPDX-License-Identifier: Apache-2.0
#include "engine/tir/access_trace.h"

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>

#include "engine/base/text.h"
#include "engine/ir/eval.h"
#include "engine/tir/interp_warp.h"
#include "engine/tir/visit.h"

namespace tw::tir {
namespace {

/// A read or the write of a statement: it happens where all `guards` are as told, those of the selects around it.
struct Site {
  int array = 0;
  bool is_store = false;
  const ir::EvalCode* position = nullptr;
  std::vector<std::pair<const ir::EvalCode*, bool>> guards;
};

/// A statement with everything looked up.
struct Walked {
  const StmtNode* stmt = nullptr;
  StmtKind kind = StmtKind::seq;
  int slot = 0;                                 ///< for, let
  int number = -1;                              ///< of the loop or statement
  const ir::EvalCode *a = nullptr, *b = nullptr;  ///< for: minimum, extent; let: value; if: condition
  bool is_float = false;                        ///< let
  std::vector<Site> sites;
  std::vector<const Walked*> body;  ///< if: then, else
};

/// What integers in arrays are.
class Zeros final : public ir::ElementSource {
 public:
  ir::EvalValue element(int, int64_t) override {
    ir::EvalValue zero;
    zero.i = 0;
    return zero;
  }
};

class Tracer {
 public:
  Tracer(const Func& f, int64_t limit, StopToken stop) : trace_{.func = f}, limit_(limit), stop_(std::move(stop)) {
    for (const Buffer& b : f.params) array(b);
  }

  Expected<AccessTrace> run() {
    const Walked* root = compile(trace_.func.body);
    if (unsupported_) return *unsupported_;
    state_ = compiler_.make_state();
    state_.source = &zeros_;
    lanes_.emplace_back();
    active_ = {1};
    walk(*root);
    if (state_.error) return *state_.error;
    TraceStep end;
    end.turns = trace_.turns.size(), end.accesses = trace_.accesses.size();
    trace_.steps.push_back(end);
    return std::move(trace_);
  }

 private:
  /// One of those that run a statement together: its place among the threads of the block, and in the vector.
  struct Lane {
    std::array<int64_t, 3> thread{};  ///< z, y, x
    int64_t element = 0;
  };
  /// A variable of which each lane has its own value.
  struct LaneVar {
    int slot;
    std::vector<int64_t> values;
  };

  int array(const Buffer& b) {
    const int n = compiler_.array(b);
    if (static_cast<size_t>(n) >= trace_.arrays.size()) trace_.arrays.push_back(b);
    return n;
  }

  void refuse(const char* what) {
    if (!unsupported_) unsupported_ = Error(ErrorCode::unsupported, fmt::format("Expected a function whose accesses can be followed one by one, found {}", what));
  }

  void add_sites(const Expr& e, std::vector<std::pair<const ir::EvalCode*, bool>> guards, std::vector<Site>& out) {
    if (e->dtype.lanes > 1) return refuse("vectors in its expressions");
    if (const auto* s = ir::as<ir::SelectNode>(e)) {
      add_sites(s->cond, guards, out);
      const ir::EvalCode* cond = compiler_.compile(s->cond);
      guards.emplace_back(cond, true);
      add_sites(s->if_true, guards, out);
      guards.back().second = false;
      add_sites(s->if_false, guards, out);
      return;
    }
    ir::for_each_child(e, [&](const Expr& c) { add_sites(c, guards, out); });
    const auto* l = ir::as<ir::LoadNode>(e);
    if (!l) return;
    const int number = array(l->buffer);
    out.push_back({number, false, compiler_.compile_position(l->buffer, l->indices, "load of"), std::move(guards)});
  }

  void add_statement(Walked& x) {
    x.number = static_cast<int>(trace_.statements.size());
    trace_.statements.push_back({x.stmt, around_});
  }

  const Walked* compile(const Stmt& s) {
    nodes_.emplace_back();
    Walked& x = nodes_.back();
    x.stmt = s.get(), x.kind = s->kind();
    match(
        s,
        [&](const ForNode& n) {
          x.a = compiler_.compile(n.min), x.b = compiler_.compile(n.extent);
          x.slot = compiler_.bind(n.var.get());
          x.number = static_cast<int>(trace_.loops.size());
          trace_.loops.push_back(
              {&n, around_.empty() ? -1 : around_.back(), static_cast<int>(around_.size()), is_thread(n.for_kind) || n.for_kind == ForKind::vectorized});
          around_.push_back(x.number);
          x.body.push_back(compile(n.body));
          around_.pop_back();
        },
        [&](const StoreNode& n) {
          for (const Expr& i : n.indices) add_sites(i, {}, x.sites);
          add_sites(n.value, {}, x.sites);
          const int number = array(n.buffer);
          x.sites.push_back({number, true, compiler_.compile_position(n.buffer, n.indices, "store to"), {}});
          add_statement(x);
        },
        [&](const AllocNode& n) {
          array(n.buffer);
          x.body.push_back(compile(n.body));
        },
        [&](const LetNode& n) {
          if (n.value->dtype.lanes > 1) return refuse("vectors in its expressions");
          x.a = compiler_.compile(n.value);
          x.is_float = n.value->dtype.is_float();
          x.slot = compiler_.bind(n.var.get());
          x.body.push_back(compile(n.body));
        },
        [&](const IfNode& n) {
          if (n.cond->dtype.lanes > 1) return refuse("vectors in its expressions");
          x.a = compiler_.compile(n.cond);
          x.body.push_back(compile(n.then_body));
          if (n.else_body) x.body.push_back(compile(*n.else_body));
        },
        [&](const SeqNode& n) {
          for (const Stmt& c : n.stmts) x.body.push_back(compile(c));
        },
        [&](const AllReduceNode& n) {
          const int number = array(n.buffer);
          const ir::EvalCode* position = compiler_.compile_position(n.buffer, n.indices, "reduction of");
          x.sites = {{number, false, position, {}}, {number, true, position, {}}};
          add_statement(x);
        },
        [&](const AsyncNode& n) { x.body.push_back(compile(n.body)); }, [](const SyncNode&) {}, [](const WaitNode&) {},
        [&](const MmaNode&) { refuse("products by the tensor cores of a warp"); });
    return &x;
  }

  /// What runs next is run by this lane.
  void become(size_t lane) {
    for (const LaneVar& v : lane_vars_) state_.vars[static_cast<size_t>(v.slot)].i = v.values[lane];
    for (const Walked* let : lane_lets_) define(*let);
  }
  void define(const Walked& let) {
    const DType t = static_cast<const LetNode*>(let.stmt)->value->dtype;
    state_.vars[static_cast<size_t>(let.slot)] = ir::rounded(t, ir::eval(*let.a, let.is_float, state_));
  }
  /// The same for each lane that takes part; with one lane nothing changes.
  template <class F>
  void for_lanes(F&& f) {
    for (size_t lane = 0; lane < lanes_.size(); ++lane) {
      if (!active_[lane]) continue;
      if (!lane_vars_.empty()) become(lane);
      f(lane);
    }
  }

  /// False where the walk ends: at the limit, when it is stopped, after an error.
  bool walk(const Walked& x) {
    switch (x.kind) {
      case StmtKind::for_:
        return trace_.loops[static_cast<size_t>(x.number)].lanes ? walk_lanes(x) : walk_loop(x);
      case StmtKind::store:
      case StmtKind::all_reduce:
        return step(x);
      case StmtKind::alloc:
      case StmtKind::async:
        return walk(*x.body[0]);
      case StmtKind::let: {
        if (lane_vars_.empty()) {
          define(x);
          return !state_.error && walk(*x.body[0]);
        }
        lane_lets_.push_back(&x);
        const bool ok = walk(*x.body[0]);
        lane_lets_.pop_back();
        return ok;
      }
      case StmtKind::if_:
        return walk_if(x);
      case StmtKind::seq:
        return std::all_of(x.body.begin(), x.body.end(), [&](const Walked* s) { return walk(*s); });
      case StmtKind::sync:
      case StmtKind::wait:
      case StmtKind::mma:
        return true;
    }
    return true;
  }

  bool walk_if(const Walked& x) {
    const std::vector<uint8_t> outer = active_;
    std::vector<uint8_t> taken(outer.size(), 0), rest(outer.size(), 0);
    bool any = false, other = false;
    for_lanes([&](size_t lane) {
      const bool holds = ir::eval_int(*x.a, state_) != 0;
      (holds ? taken : rest)[lane] = 1;
      any = any || holds, other = other || !holds;
    });
    if (state_.error) return false;
    active_ = std::move(taken);
    bool ok = !any || walk(*x.body[0]);
    if (ok && other && x.body.size() > 1) {
      active_ = std::move(rest);
      ok = walk(*x.body[1]);
    }
    active_ = outer;
    return ok;
  }

  bool walk_loop(const Walked& x) {
    int64_t& turn = turns_of(x);
    const auto& loop = *static_cast<const ForNode*>(x.stmt);
    if (lane_vars_.empty() || (ir::as_int(loop.min) && ir::as_int(loop.extent))) {
      const int64_t min = ir::eval_int(*x.a, state_), extent = ir::eval_int(*x.b, state_);
      if (state_.error) return false;
      for (int64_t k = 0; k < extent; ++k) {
        state_.vars[static_cast<size_t>(x.slot)].i = turn = min + k;
        if (!walk(*x.body[0])) return false;
      }
      return true;
    }
    // Lanes may have bounds of their own; those that are done wait for the others.
    const size_t var = lane_vars_.size();
    std::vector<int64_t> extents(lanes_.size(), 0);
    LaneVar values{x.slot, std::vector<int64_t>(lanes_.size(), 0)};
    int64_t most = 0;
    for_lanes([&](size_t lane) {
      values.values[lane] = ir::eval_int(*x.a, state_);
      extents[lane] = ir::eval_int(*x.b, state_);
      most = std::max(most, extents[lane]);
    });
    if (state_.error) return false;
    const std::vector<uint8_t> outer = active_;
    lane_vars_.push_back(std::move(values));
    bool ok = true;
    for (int64_t k = 0; ok && k < most; ++k) {
      bool seen = false;
      for (size_t lane = 0; lane < lanes_.size(); ++lane) {
        active_[lane] = outer[lane] && k < extents[lane];
        if (active_[lane] && !seen) seen = true, turns_of(x) = lane_vars_[var].values[lane];
      }
      ok = walk(*x.body[0]);
      for (int64_t& v : lane_vars_[var].values) ++v;
    }
    lane_vars_.pop_back();
    active_ = outer;
    return ok;
  }

  /// Each lane becomes as many as the loop has turns.
  bool walk_lanes(const Walked& x) {
    const auto& loop = *static_cast<const ForNode*>(x.stmt);
    const bool thread = is_thread(loop.for_kind);
    const std::vector<Lane> outer_lanes = lanes_;
    const std::vector<uint8_t> outer_active = active_;
    const std::vector<LaneVar> outer_vars = lane_vars_;
    std::vector<int64_t> mins(lanes_.size(), 0), extents(lanes_.size(), 0);
    for_lanes([&](size_t lane) { mins[lane] = ir::eval_int(*x.a, state_), extents[lane] = ir::eval_int(*x.b, state_); });
    if (state_.error) return false;
    const int64_t extent = *std::max_element(extents.begin(), extents.end());
    constexpr size_t kMostLanes = 1 << 16;
    if (extent <= 0) return true;
    if (lanes_.size() > kMostLanes / static_cast<size_t>(extent)) {
      state_.fail(ErrorCode::resource_limit, fmt::format("Expected at most {} lanes and threads together, found more", kMostLanes), "");
      return false;
    }
    struct Made {
      Lane lane;
      size_t from;
      int64_t turn;
    };
    std::vector<Made> made;
    for (size_t lane = 0; lane < outer_lanes.size(); ++lane)
      for (int64_t k = 0; k < extent; ++k) {
        Made m{outer_lanes[lane], lane, k};
        if (thread)
          m.lane.thread[static_cast<size_t>(static_cast<int>(ForKind::thread_z) - static_cast<int>(loop.for_kind))] = k;
        else
          m.lane.element = m.lane.element * extent + k;
        made.push_back(m);
      }
    // Neighbours along x stand together, whatever the order of the loops.
    std::stable_sort(made.begin(), made.end(),
                     [](const Made& a, const Made& b) { return std::pair(a.lane.thread, a.lane.element) < std::pair(b.lane.thread, b.lane.element); });
    lanes_.clear(), active_.clear();
    for (LaneVar& v : lane_vars_) v.values.clear();
    LaneVar own{x.slot, {}};
    for (const Made& m : made) {
      lanes_.push_back(m.lane);
      active_.push_back(outer_active[m.from] && m.turn < extents[m.from]);
      own.values.push_back(mins[m.from] + m.turn);
      for (size_t v = 0; v < lane_vars_.size(); ++v) lane_vars_[v].values.push_back(outer_vars[v].values[m.from]);
    }
    lane_vars_.push_back(std::move(own));
    turns_of(x) = mins.front();
    const int64_t vector = vector_;
    if (thread)
      ++threads_;
    else
      vector_ *= extent;
    const bool ok = walk(*x.body[0]);
    vector_ = vector;
    if (thread) --threads_;
    lanes_ = outer_lanes, active_ = outer_active, lane_vars_ = outer_vars;
    return ok;
  }

  int64_t& turns_of(const Walked& loop) {
    if (turn_.size() <= static_cast<size_t>(loop.number)) turn_.resize(trace_.loops.size(), 0);
    return turn_[static_cast<size_t>(loop.number)];
  }

  bool step(const Walked& x) {
    if (stop_.stop_requested()) {
      state_.fail(ErrorCode::cancelled, "Cancelled while following a kernel's accesses", "");
      return false;
    }
    const size_t together = threads_ > 0 ? static_cast<size_t>(kLanes * vector_) : lanes_.size();
    for (size_t first = 0; first < lanes_.size(); first += together) {
      const size_t end = std::min(first + together, lanes_.size());
      if (std::none_of(active_.begin() + static_cast<std::ptrdiff_t>(first), active_.begin() + static_cast<std::ptrdiff_t>(end), [](uint8_t a) { return a != 0; }))
        continue;
      if (static_cast<int64_t>(trace_.positions.size()) >= limit_) {
        trace_.is_whole = false;
        return false;
      }
      TraceStep s{x.number, trace_.turns.size(), trace_.accesses.size(), threads_ > 0 ? static_cast<int>(first / together) : -1};
      for (const int loop : trace_.statements[static_cast<size_t>(x.number)].loops) trace_.turns.push_back(turn_[static_cast<size_t>(loop)]);
      for (const Site& site : x.sites) note(site, first, end);
      if (state_.error) return false;
      trace_.steps.push_back(s);
    }
    return true;
  }

  void note(const Site& site, size_t first, size_t end) {
    TracedAccess a{site.array, site.is_store, trace_.positions.size(), static_cast<int>(end - first), threads_ > 0 ? static_cast<int>(vector_) : static_cast<int>(end - first)};
    bool any = false;
    for (size_t lane = first; lane < end; ++lane) {
      int64_t position = -1;
      if (active_[lane]) {
        if (!lane_vars_.empty()) become(lane);
        if (std::all_of(site.guards.begin(), site.guards.end(), [&](const auto& g) { return (ir::eval_int(*g.first, state_) != 0) == g.second; }))
          position = ir::eval_int(*site.position, state_);
      }
      any = any || position >= 0;
      trace_.positions.push_back(position);
    }
    if (any)
      trace_.accesses.push_back(a);
    else
      trace_.positions.resize(a.first);
  }

  AccessTrace trace_;
  ir::EvalCompiler compiler_;
  ir::EvalState state_;
  Zeros zeros_;
  std::deque<Walked> nodes_;
  std::vector<int> around_;  ///< loops, while compiling
  std::optional<Error> unsupported_;
  int64_t limit_;
  StopToken stop_;
  std::vector<Lane> lanes_;
  std::vector<uint8_t> active_;
  std::vector<LaneVar> lane_vars_;
  std::vector<const Walked*> lane_lets_;
  std::vector<int64_t> turn_;  ///< of each loop
  int threads_ = 0;            ///< loops over threads around
  int64_t vector_ = 1;         ///< lanes of a vector around
};

}  // namespace

Expected<AccessTrace> trace_accesses(const Func& f, int64_t limit, StopToken stop) { return Tracer(f, limit, std::move(stop)).run(); }

}  // namespace tw::tir
