// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/llvm/emitter.h"
#include "engine/codegen/streaming.h"
#include "engine/tir/stretch.h"
#include "engine/tir/visit.h"

namespace tw::codegen {

namespace {

/// Bytes from which the C library copies faster than a loop of vectors: it moves them as suits the processor at hand, mostly without fetching the lines that it
/// overwrites. Measured on Zen 5: level at 2 KB, 1.15 times as fast at 4 KB, 1.3 at 32 KB.
constexpr int64_t kLeastBytes = 4096;

}  // namespace

/// Loops that copy neighbouring elements from one array to another, as many as are worth a call, become a call of `memcpy`; or, of whole lines, one string
/// instruction, where processors have it fast: all that have AVX-512's byte permutations do (Ice Lake, Zen 4 and later). Rows of 8 KB take 0.88 of the call's
/// time so. Never with a destination inside a line, which takes up to 20 times as long on Zen 3 and 4 (glibc's bug 30994). Source: Intel 64 and IA-32
/// Architectures Optimization Reference Manual, enhanced REP MOVSB.
bool FuncEmitter::copy(const tir::ForNode& n) {
  if (mask_ != nullptr) return false;
  std::vector<const tir::ForNode*> loops;
  for (const tir::ForNode* loop = &n; loop != nullptr; loop = tir::as<tir::ForNode>(loop->body)) {
    if (!ir::as_int(loop->extent) || (loop != &n && !ir::as_int(loop->min)) || (loop->for_kind == tir::ForKind::parallel && loop != &n && !in_parallel_))
      return false;
    loops.push_back(loop);
  }
  const auto* to = tir::as<tir::StoreNode>(loops.back()->body);
  const auto* from = to == nullptr ? nullptr : ir::as<ir::LoadNode>(to->value);
  if (from == nullptr || from->buffer.get() == to->buffer.get() || from->buffer->dtype != to->buffer->dtype) return false;
  const int lanes = to->value->dtype.lanes;
  int64_t bytes = 0;
  for (const ir::Expr& index : {flat_index(to->buffer, to->indices), flat_index(from->buffer, from->indices)}) {
    const auto ramp = as_ramp(index);
    if (lanes > 1 && (!ramp || !ir::is_int(ramp->stride, 1))) return false;
    bytes = tir::stretch(lanes > 1 ? ramp->base : index, loops, lanes) * to->buffer->dtype.bytes();
    if (bytes < kLeastBytes) return false;
  }
  // Whole lines that no cache keeps are written past the caches.
  if (const Place p = place(to->buffer, to->indices);
      s_.streamed.contains(to->buffer.get()) && p.ramp && align_of(p, p.ramp->base, lanes).value() * 8 >= static_cast<uint64_t>(s_.target.vector_bits))
    return false;
  for (size_t l = 1; l < loops.size(); ++l) bind(loops[l]->var.get(), index(loops[l]->min), std::nullopt);
  const auto first = [&](const ir::Buffer& buffer, const std::vector<ir::Expr>& indices) {
    const Place p = place(buffer, indices);
    const ir::Expr& at = lanes > 1 ? p.ramp->base : p.index;
    return std::pair(address(p, at), align_of(p, at, lanes));
  };
  const auto [target, target_align] = first(to->buffer, to->indices);
  const auto [source, source_align] = first(from->buffer, from->indices);
  const llvm::Align line(static_cast<uint64_t>(kCacheLine));
  if (target_align == line && source_align == line && bytes % kCacheLine == 0 && s_.has(target::X86Feature::avx512vbmi))
    b_.CreateMemCpyInline(target, line, source, line, b_.getInt64(static_cast<uint64_t>(bytes)));
  else
    b_.CreateMemCpy(target, target_align, source, source_align, static_cast<uint64_t>(bytes));
  return true;
}

}  // namespace tw::codegen
