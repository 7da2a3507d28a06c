// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "engine/frontends/onnx/onnx_ops.h"
#include "engine/frontends/onnx/tensor_reader.h"

namespace tw::frontends {

namespace {

using Results = std::vector<int>;

/// a0 - a1 cos(2 pi k / N) + a2 cos(4 pi k / N), with N the size (periodic) or one less (symmetric).
Results cosine_window(OnnxNode& n, double a0, double a1, double a2) {
  const double size = n.number_input(0, "the size");
  if (!(size >= 1 && size <= 1 << 24)) n.invalid(fmt::format("expected a size from 1 to 2^24, found {}", size));
  auto type = dtype_of_onnx(n.integer("output_datatype", onnx::TensorProto::FLOAT));
  if (!type) n.unsupported("element type " + onnx_dtype_name(n.integer("output_datatype", 0)));
  const double period = n.integer("periodic", 1) || size == 1 ? size : size - 1;
  HostArray a = HostArray::make(*type, {static_cast<int64_t>(size)});
  for (int64_t k = 0; k < a.num_elements(); ++k) {
    const double phase = 2 * std::numbers::pi * static_cast<double>(k) / period;
    a.set(k, a0 - a1 * std::cos(phase) + a2 * std::cos(2 * phase));
  }
  return {n.constant(std::move(a))};
}

Results blackman(OnnxNode& n) { return cosine_window(n, 0.42, 0.5, 0.08); }
Results hamming(OnnxNode& n) { return cosine_window(n, 25.0 / 46, 21.0 / 46, 0); }
Results hann(OnnxNode& n) { return cosine_window(n, 0.5, 0.5, 0); }

constexpr OnnxOp kWindowOps[] = {{"BlackmanWindow", blackman}, {"HammingWindow", hamming}, {"HannWindow", hann}};

}  // namespace

std::span<const OnnxOp> onnx_ops_window() { return kWindowOps; }

}  // namespace tw::frontends
