// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <chrono>

#include "engine/base/text.h"
#include "engine/tir/pass.h"
#include "engine/tir/passes/auto_unroll.h"
#include "engine/tir/passes/flatten_storage.h"
#include "engine/tir/passes/hoist_invariants.h"
#include "engine/tir/passes/inject_virtual_threads.h"
#include "engine/tir/passes/insert_barriers.h"
#include "engine/tir/passes/merge_allocations.h"
#include "engine/tir/passes/merge_branches.h"
#include "engine/tir/passes/partition_loops.h"
#include "engine/tir/passes/remove_no_ops.h"
#include "engine/tir/passes/simplify.h"
#include "engine/tir/passes/single_turns.h"
#include "engine/tir/passes/skip_padding.h"
#include "engine/tir/passes/unroll_loops.h"
#include "engine/tir/passes/vectorize_fills.h"
#include "engine/tir/passes/vectorize_loops.h"
#include "engine/tir/passes/vectorize_reductions.h"
#include "engine/tir/verify.h"
#include "engine/tir/visit.h"

namespace tw::tir {

namespace {

constexpr const char* kSimplifyText =
    "Brings index arithmetic into one canonical form under the known ranges of loops. Divisions and remainders from fused loops and blocked layouts "
    "cancel, guards that always hold disappear, loops of one iteration dissolve.";

const std::array<Pass, 19> kPasses{{
    // First, while every loop still is one of the schedule's.
    {"auto_unroll", auto_unroll,
     "Marks loops to be written out: from inside, as far as that makes no more stores of a loop than the schedule allows there.",
     "the pragma auto_unroll_max_step of TVM, Chen et al., OSDI 2018"},
    // Before all others, so that guards show which loop they depend on.
    {"simplify", simplify, kSimplifyText, "affine arithmetic as in Halide (PLDI 2013) and TVM (OSDI 2018)"},
    // While a place is named by one loop's variable: loops that are cut or written out have several names for it.
    {"single_turns", single_turns, "Replaces a loop that changes memory in one of its turns only, as the search for the place of an update, by that turn.",
     "indirect stores as in Kjolstad et al., The tensor algebra compiler, OOPSLA 2017 (scatter)", Pass::On::host},
    // Before the loops inside are changed: which statements of a thread depend on a virtual thread is seen best in the schedule's own order.
    {"inject_virtual_threads", inject_virtual_threads,
     "Runs the virtual threads of a thread interleaved. Their statements stand side by side in the innermost loops, what does not depend on them happens once.",
     "virtual threads of TVM, Chen et al., OSDI 2018", Pass::On::launches},
    // While arrays have their dimensions: those of double buffers are told apart by the first.
    {"insert_barriers", insert_barriers,
     "Lets the threads of a block wait for each other where one reads or overwrites in shared memory what another wrote or reads, and nowhere else.",
     "thread synchronisation of TVM, Chen et al., OSDI 2018", Pass::On::launches, "threads would read shared memory that others have not written yet"},
    // Before unrolling and vectorising: a guard inside a vector would forbid it, and copies are cheapest while bodies are small.
    {"partition_loops", partition_loops,
     "Cuts a loop where a guard stops to hold, as of an imperfect split or of padding. The main part runs without the test, only the other pieces keep it.", "Halide, PLDI 2013",
     Pass::On::host},
    // The pieces have ranges of their own: more folds.
    {"simplify", simplify, kSimplifyText, "affine arithmetic as in Halide (PLDI 2013) and TVM (OSDI 2018)", Pass::On::host},
    // While arrays have their dimensions, and after loops are cut: its tests are too cheap to copy bodies for.
    {"skip_padding", skip_padding,
     "Lets sums leave out turns of a loop that would add nothing but zeros, as taps of a window do that lie in the padding, and does not write padding that nobody "
     "reads then.",
     "sparsity known ahead of time: the bounds of oneDNN's direct convolutions", Pass::On::host},
    {"flatten_storage", flatten_storage, "Gives every array access a single row-major index in elements, the form that machines address memory in.",
     "Halide, PLDI 2013"},
    // While loops that the schedule vectorised still are loops: theirs are left alone.
    {"vectorize_fills", vectorize_fills, "Sets neighbouring elements to one constant in whole vectors, as before the updates of a scatter.", "memset as one of the idioms of LLVM's loops",
     Pass::On::host},
    // Before vectorising: one element that every lane updates would keep the loop scalar.
    {"vectorize_reductions", vectorize_reductions,
     "Gives every lane of a vectorised reduction an accumulator of its own, in registers, and combines them pairwise after the loop.",
     "OpenMP 4.0, simd reductions", Pass::On::host},
    // Before unrolling, so that one vector statement is copied instead of each lane.
    {"vectorize_loops", vectorize_loops,
     "Turns loops marked as vectorised into vector loads, arithmetic and stores by replacing the loop variable with a ramp.", "Halide, PLDI 2013"},
    {"unroll_loops", unroll_loops,
     "Writes out loops marked as unrolled. The accumulators of a register tile end with constant indices, which lets LLVM keep them in registers. Compilers "
     "for GPUs do the same, so that of launches only loops whose turns differ in what they compute are written out.",
     "Halide, PLDI 2013"},
    {"simplify", simplify, kSimplifyText, "affine arithmetic as in Halide (PLDI 2013) and TVM (OSDI 2018)"},
    // After unrolling and simplifying, which leave one equal guard a row, and before hoisting, which moves a guard out of a loop that it is alone in.
    {"merge_branches", merge_branches, "Joins neighbouring branches that ask the same question, such as the row guards of an unrolled tile.",
     "Allen and Cocke, A catalogue of optimizing transformations, 1971"},
    {"hoist_invariants", hoist_invariants, "Moves tests that do not depend on a loop to the outside of it.",
     "Allen and Cocke, A catalogue of optimizing transformations, 1971"},
    {"remove_no_ops", remove_no_ops, "Drops what earlier passes left empty.", "dead code elimination"},
    {"simplify", simplify, kSimplifyText, "affine arithmetic as in Halide (PLDI 2013) and TVM (OSDI 2018)"},
    // Last, when it is known which small arrays have constant indices only and will be registers.
    {"merge_allocations", merge_allocations, "Lets arrays that are never needed at the same time share memory, so that the working set stays near.",
     "storage rewriting of TVM, Chen et al., OSDI 2018", Pass::On::host},
}};

Expected<void> may_be_left_out(const std::string& name) {
  const auto pass = std::find_if(kPasses.begin(), kPasses.end(), [&](const Pass& p) { return name == p.name; });
  if (pass == kPasses.end()) return Error(ErrorCode::invalid_argument, fmt::format("Expected the name of a kernel pass, found '{}'", printable(name)));
  if (*pass->needed)
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a kernel pass that may be left out, found '{}': {}", name, pass->needed));
  return {};
}

}  // namespace

std::span<const Pass> passes() { return kPasses; }

bool applies(const Pass& pass, const Func& f) { return pass.on == Pass::On::all || (pass.on == Pass::On::launches) == has_launches(f); }

Expected<Func> run_passes(Func f, const Target& target, const PassHooks& hooks) {
  for (const std::string& name : hooks.disabled) TW_CHECK(may_be_left_out(name));
  const auto left_out = [&](const Pass& p) { return std::find(hooks.disabled.begin(), hooks.disabled.end(), p.name) != hooks.disabled.end(); };
  for (const Pass& pass : kPasses) {
    if (!applies(pass, f) || left_out(pass)) continue;
    const auto begin = std::chrono::steady_clock::now();
    Func next = pass.run(f, target);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (hooks.after) hooks.after(pass, f, next, seconds, !next.body.same_as(f.body));
    if (hooks.verify)
      if (auto ok = verify(next); !ok) {
        Error e = ok.error();
        e.where = std::string("after pass '") + pass.name + "'";
        return e;
      }
    f = std::move(next);
  }
  return f;
}

}  // namespace tw::tir
