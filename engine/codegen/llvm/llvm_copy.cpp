// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <span>

#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/streaming.h"
#include "engine/ir/visit.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

/// Bytes from which a string instruction moves whole lines faster than vectors do: it does not fetch the lines that it overwrites. Measured on Zen 5: level at
/// 2 KB, 1.15 times as fast at 4 KB, 1.3 at 32 KB. Source: Intel 64 and IA-32 Architectures Optimization Reference Manual, enhanced REP MOVSB.
constexpr int64_t kLeastBytes = 4096;

/// Elements that loops around one vector go through one after another.
struct Stretch {
  int64_t elements;
  int64_t divisor;  ///< of the place of the first; 0: it is the first of the array
};
/// Loops outermost first. Nothing where they go another way.
std::optional<Stretch> stretch(const ir::Expr& first_lane, std::span<const tir::ForNode* const> loops, int lanes) {
  const LinearIndex at = linear_index(first_lane);
  Stretch found{lanes, at.constant};
  for (size_t l = loops.size(); l-- > 0;) {
    const ir::VarNode* var = loops[l]->var.get();
    bool moves = false;
    for (const LinearIndex::Term& t : at.terms) {
      if (t.atom.get() == var && t.coefficient == found.elements)
        moves = true;
      else if (ir::uses_var(t.atom, var))
        return std::nullopt;
    }
    if (!moves) return std::nullopt;
    found.divisor = std::gcd(found.divisor, known_divisor(loops[l]->min * found.elements));
    found.elements *= *ir::as_int(loops[l]->extent);
  }
  for (const LinearIndex::Term& t : at.terms)
    if (std::none_of(loops.begin(), loops.end(), [&](const tir::ForNode* loop) { return t.atom.get() == loop->var.get(); }))
      found.divisor = std::gcd(found.divisor, known_divisor(t.atom * t.coefficient));
  return found;
}

}  // namespace

/// Loops that copy whole lines from one array to another become one instruction, where processors have it fast: all that have AVX-512's byte permutations (Ice
/// Lake, Zen 4 and later) do. Only from line to line: with a destination inside one it is up to 20 times as slow on Zen 3 and 4 (glibc's bug 30994).
bool FuncEmitter::copy(const tir::ForNode& n) {
  if (mask_ != nullptr || !s_.has(target::X86Feature::avx512vbmi)) return false;
  std::vector<const tir::ForNode*> loops;
  for (const tir::ForNode* loop = &n; loop != nullptr; loop = tir::as<tir::ForNode>(loop->body)) {
    if (!ir::as_int(loop->extent) || (loop != &n && !ir::as_int(loop->min)) || (loop->for_kind == tir::ForKind::parallel && loop != &n && !in_parallel_))
      return false;
    loops.push_back(loop);
  }
  const auto* to = tir::as<tir::StoreNode>(loops.back()->body);
  const auto* from = to == nullptr ? nullptr : ir::as<ir::LoadNode>(to->value);
  if (from == nullptr || from->buffer.get() == to->buffer.get() || from->buffer->dtype != to->buffer->dtype || s_.streamed.contains(to->buffer.get()))
    return false;
  const int lanes = to->value->dtype.lanes;
  const int64_t element = to->buffer->dtype.bytes();
  const auto to_ramp = as_ramp(flat_index(to->buffer, to->indices)), from_ramp = as_ramp(flat_index(from->buffer, from->indices));
  int64_t bytes = 0;
  for (const auto& ramp : {to_ramp, from_ramp}) {
    const auto found = ramp && ir::is_int(ramp->stride, 1) ? stretch(ramp->base, loops, lanes) : std::nullopt;
    if (!found || found->divisor * element % kCacheLine != 0) return false;
    bytes = found->elements * element;
    if (bytes < kLeastBytes || bytes % kCacheLine != 0) return false;
  }
  for (size_t l = 1; l < loops.size(); ++l) bind(loops[l]->var.get(), index(loops[l]->min), std::nullopt);
  const Place there = place(to->buffer, to->indices), here = place(from->buffer, from->indices);
  const llvm::Align line(static_cast<uint64_t>(kCacheLine));
  llvm::Value* target = address(there, there.ramp->base);
  b_.CreateMemCpyInline(target, line, address(here, here.ramp->base), line, b_.getInt64(static_cast<uint64_t>(bytes)));
  return true;
}

}  // namespace tw::codegen
