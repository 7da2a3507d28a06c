// SPDX-License-Identifier: Apache-2.0
#include "engine/simulate/launch_facts.h"

#include <algorithm>

#include "engine/ir/visit.h"
#include "engine/simulate/instruction_counts.h"
#include "engine/tir/visit.h"

namespace tw::simulate {

namespace {

using ir::Expr;
using tir::ForKind;
using tir::Stmt;

constexpr int kSampledBlocks = 4, kSampledWarps = 4;

/// What is known of a loop's body before it is walked.
struct BodyFacts {
  bool barrier = false, tested = false;  ///< tested: some condition inside uses the variable
  std::unordered_set<const ir::BufferNode*> stored;
};

/// Follows a few warps of a few blocks through the program of a thread.
class Walk {
 public:
  Walk(const tir::Launch& launch, LaunchFacts& facts)
      : program_(launch.body), facts_(facts), path_(launch), accesses_(path_, program_, facts, code_), count_(path_, accesses_, facts, code_) {
    for (size_t d = 0; d < 3; ++d) {
      facts_.grid[d] = launch.grid[d];
      facts_.block[d] = static_cast<int>(launch.block[d]);
    }
    facts_.shared_bytes = launch.shared_bytes();
  }

  void run() {
    const int64_t blocks = facts_.blocks();
    const int warps = facts_.warps();
    const int64_t some_blocks = std::min<int64_t>(blocks, kSampledBlocks);
    const int some_warps = std::min(warps, kSampledWarps);
    const double share = 1.0 / static_cast<double>(some_blocks * some_warps);
    for (int64_t b = 0; b < some_blocks; ++b)
      for (int w = 0; w < some_warps; ++w) {
        path_.enter((2 * b + 1) * blocks / (2 * some_blocks), w * warps / some_warps, share, b == 0 && w == 0);
        accesses_.enter();
        walk(program_);
        accesses_.count();
      }
    facts_.registers = code_.registers(program_);
    facts_.code_bytes = code_.bytes();
    facts_.arrays = accesses_.arrays().traffic();
  }

 private:
  /// Counts what is of one statement. Accesses are told apart later, when those that lie together are known.
  template <class Count>
  void charge(const tir::StmtNode& s, const Count& count) {
    const double instructions = facts_.instructions(), wavefronts = facts_.shared_wavefronts;
    path_.statement = &s;
    count();
    StatementCounts& of = facts_.statements[&s];
    of.instructions += facts_.instructions() - instructions;
    of.shared += facts_.shared_wavefronts - wavefronts;
  }

  void walk(const Stmt& s) {
    if (path_.active == 0) return;
    tir::match(
        s, [&](const tir::ForNode& n) { loop(n); },
        [&](const tir::StoreNode& n) {
          charge(n, [&] {
            count_.value(n.value);
            accesses_.store(n);
          });
        },
        [&](const tir::AllocNode& n) { walk(n.body); },
        [&](const tir::LetNode& n) {
          charge(n, [&] { count_.value(n.value); });
          path_.define(n);
          walk(n.body);
        },
        [&](const tir::IfNode& n) { branch(n); },
        [&](const tir::SeqNode& n) {
          for (const Stmt& c : n.stmts) walk(c);
        },
        [&](const tir::SyncNode& n) { charge(n, [&] { count_.barrier(); }); },
        [&](const tir::AllReduceNode& n) { charge(n, [&] { count_.all_reduce(n); }); },
        [&](const tir::AsyncNode& n) {
          path_.in_group = true;
          walk(n.body);
          path_.in_group = false;
          charge(n, [&] { count_.control(); });
        },
        [&](const tir::WaitNode& n) { charge(n, [&] { count_.control(); }); }, [&](const tir::MmaNode& n) { charge(n, [&] { count_.product(n); }); });
  }

  const BodyFacts& body_facts(const tir::ForNode& n) {
    const auto [it, made] = body_facts_.try_emplace(&n);
    if (!made) return it->second;
    BodyFacts& f = it->second;
    const auto tests = [&](const Expr& cond) { f.tested = f.tested || path_.uses(cond).contains(n.var.get()); };
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

  void loop(const tir::ForNode& n) {
    const auto extent = ir::as_int(n.extent);
    const int64_t count = extent ? *extent : std::max<int64_t>(1, path_.values.of(n.extent)[0]);
    if (count <= 0) return;
    const BodyFacts& body = body_facts(n);
    const bool written_out = tir::is_unrolled(n.for_kind) || n.for_kind == ForKind::vthread || n.for_kind == ForKind::vectorized;
    const Lanes min = path_.values.of(n.min);
    // One turn stands for all, unless a condition asks which: then the first and the last stand for themselves.
    std::vector<std::pair<int64_t, double>> turns;
    if (body.tested && count > 2)
      turns = {{0, 1}, {count / 2, static_cast<double>(count - 2)}, {count - 1, 1}};
    else if (body.tested)
      for (int64_t k = 0; k < count; ++k) turns.emplace_back(k, 1);
    else
      turns = {{count / 2, static_cast<double>(count)}};
    int sample = 0;
    for (const auto& [turn, stands_for] : turns) {
      Lanes at = min;
      for (int64_t& v : at) v += turn;
      path_.values.vars[n.var.get()] = at;
      path_.loops.push_back({n.var.get(), stands_for, static_cast<double>(count), sample++, written_out, body.barrier, &body.stored});
      if (!written_out) charge(n, [&] { count_.turn(); });
      walk(n.body);
      path_.loops.pop_back();
    }
  }

  void branch(const tir::IfNode& n) {
    charge(n, [&] { count_.value(n.cond); });
    const uint32_t outer = path_.active, taken = path_.where(n.cond);
    path_.active = taken;
    walk(n.then_body);
    path_.active = outer & ~taken;
    if (n.else_body) walk(*n.else_body);
    path_.active = outer;
  }

  const Stmt& program_;
  LaunchFacts& facts_;
  MachineCode code_;
  WarpPath path_;
  AccessCounts accesses_;
  InstructionCounts count_;
  std::unordered_map<const tir::ForNode*, BodyFacts> body_facts_;
};

}  // namespace

Expected<std::vector<LaunchFacts>> launch_facts(const tir::Func& f) {
  TW_TRY(const tir::LaunchList list, tir::split_launches(f));
  std::vector<LaunchFacts> out;
  for (const tir::Launch& launch : list.launches) {
    LaunchFacts facts;
    Walk(launch, facts).run();
    out.push_back(std::move(facts));
  }
  return out;
}

}  // namespace tw::simulate
