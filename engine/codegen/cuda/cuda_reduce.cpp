// SPDX-License-Identifier: Apache-2.0
#include "engine/codegen/cuda/cuda_reduce.h"

#include "engine/base/text.h"
#include "engine/target/gpu.h"

namespace tw::codegen {

using tir::ForKind;
using tir::Stmt;

namespace {

/// `type`: of template arguments, for numbers that a shuffle gives back as int; else empty.
std::string combined(ir::BinaryOp op, const std::string& type, const std::string& a, const std::string& b) {
  switch (op) {
    case ir::BinaryOp::mul:
      return a + " * " + b;
    case ir::BinaryOp::min:
      return "min_of" + type + "(" + a + ", " + b + ")";
    case ir::BinaryOp::max:
      return "max_of" + type + "(" + a + ", " + b + ")";
    default:
      return a + " + " + b;
  }
}

}  // namespace

int64_t print_all_reduce(KernelText& text, const Stmt& s, const tir::AllReduceNode& n) {
  const auto direction = static_cast<size_t>(n.thread) - static_cast<size_t>(ForKind::thread_x);
  const int64_t count = text.launch.block[direction], threads = text.launch.threads();
  if (count == 1) return 0;
  if (n.combine == ir::BinaryOp::min) text.expr.helper("min_of");
  if (n.combine == ir::BinaryOp::max) text.expr.helper("max_of");
  const std::string type = cuda_type(n.buffer->dtype, true);
  const std::string named = n.buffer->dtype.is_int() && n.buffer->dtype.bits < 32 ? "<" + type + ">" : "";
  const auto combine = [&](const std::string& a, const std::string& b) { return combined(n.combine, named, a, b); };
  const std::string element = text.expr.place(n.buffer, n.indices, 0);
  text.line(nullptr, n.origin, fmt::format("// {} over {}", tir::reduction_name(n.combine), tir::thread_name(n.thread)));
  const bool whole_warps = n.thread == ForKind::thread_x && threads % target::kWarp == 0;
  const bool in_warp = whole_warps && count <= target::kWarp && (count & (count - 1)) == 0;
  const auto shuffle = [&](const std::string& value, int64_t lanes) {
    text.line(s, "#pragma unroll");
    text.line(s, fmt::format("for (int d = {}; d > 0; d /= 2) {} = {};", lanes / 2, value,
                             combine(value, fmt::format("__shfl_xor_sync(0xffffffffu, {}, d)", value))));
  };
  if (in_warp) {
    shuffle(element, count);
    return 0;
  }
  text.begin(s, "{");
  const std::string scratch = text.fresh("scratch"), thread = text.fresh("thread");
  const int64_t stride = direction == 0 ? 1 : direction == 1 ? text.launch.block[0] : text.launch.block[0] * text.launch.block[1];
  text.line(s, fmt::format("const int {} = (threadIdx.z * {} + threadIdx.y) * {} + threadIdx.x;", thread, text.launch.block[1], text.launch.block[0]));
  if (whole_warps && count % target::kWarp == 0) {
    const int64_t warps = count / target::kWarp;
    text.line(s, fmt::format("__shared__ {} {}[{}];", type, scratch, threads / target::kWarp));
    shuffle(element, target::kWarp);
    text.line(s, fmt::format("if ({0} % {1} == 0) {2}[{0} / {1}] = {3};", thread, target::kWarp, scratch, element));
    text.line(s, "__syncthreads();");
    text.line(s, fmt::format("{} = {}[{} / {} * {}];", element, scratch, thread, count, warps));
    text.line(s, fmt::format("for (int w = 1; w < {}; ++w) {} = {};", warps, element,
                             combine(element, fmt::format("{}[{} / {} * {} + w]", scratch, thread, count, warps))));
  } else {
    int64_t half = 1;
    while (2 * half < count) half *= 2;
    const std::string at = tir::thread_name(n.thread);
    text.line(s, fmt::format("__shared__ {} {}[{}];", type, scratch, threads));
    text.line(s, fmt::format("{}[{}] = {};", scratch, thread, element));
    text.line(s, "__syncthreads();");
    text.line(s, fmt::format("for (int d = {}; d > 0; d /= 2) {{", half));
    text.line(s, fmt::format("  if ({0} < d && {0} + d < {1}) {2}[{3}] = {4};", at, count, scratch, thread,
                             combine(fmt::format("{}[{}]", scratch, thread), fmt::format("{}[{} + d * {}]", scratch, thread, stride))));
    text.line(s, "  __syncthreads();");
    text.line(s, "}");
    text.line(s, fmt::format("{} = {}[{} - {} * {}];", element, scratch, thread, at, stride));
  }
  text.line(s, "__syncthreads();");
  text.end(s);
  return n.buffer->dtype.bytes() * (whole_warps && count % target::kWarp == 0 ? threads / target::kWarp : threads);
}

}  // namespace tw::codegen
