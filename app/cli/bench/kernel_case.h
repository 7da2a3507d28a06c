// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/base/expected.h"
#include "engine/graph/graph.h"

/// What `tw bench` computes with our kernels and with other libraries': one operator with fixed shapes.
namespace tw::cli::bench {

enum class Kind { dense, batch_matmul, conv2d, softmax };

/// dense: data [M, K], weight [N, K], result [M, N]. batch_matmul: data [B, M, K], weight [B, K, N], result [B, M, N]; its weight is an input like the other.
/// conv2d: data [1, C, H, W], weight [O, C / groups, KH, KW], result [1, O, ...], with bias [O] and ReLU. softmax: data and result [R, N], over rows; no weight.
struct KernelCase {
  std::string name;
  Kind kind = Kind::dense;
  std::vector<int64_t> data, weight, result;
  int64_t stride = 1, pad = 0, groups = 1, dilation = 1;
  DType type = kFloat32;
  double flops = 0;         ///< multiplications and additions of the product; padded taps count
  std::string beside = {};  ///< of a sweep over channels: the case whose time for each operation this one's is compared with; empty for others

  int64_t bias_elements() const { return kind == Kind::conv2d ? weight[0] : 0; }
  bool constant_weight() const { return kind == Kind::dense || kind == Kind::conv2d; }
};

KernelCase dense_case(int64_t m, int64_t n, int64_t k, DType type = kFloat32);
KernelCase batch_matmul_case(int64_t batch, int64_t m, int64_t n, int64_t k);
KernelCase conv2d_case(int64_t channels, int64_t size, int64_t filters, int64_t kernel, int64_t stride, int64_t pad, int64_t groups, int64_t dilation = 1);
KernelCase softmax_case(int64_t rows, int64_t n);

/// The cases of a suite. `dense`: square products and the products of bert_base; `conv`: every distinct convolution of resnet50 and mobilenet_v2, read from the
/// bundled networks; `kernels`: both; `channels`: a sweep over channel counts; `shapes`: one over what networks elsewhere have. Errors: what building the networks says; unsupported for a convolution that a case cannot describe.
/// On a GPU, `dense` are large squares in float32 and float16, and `conv` those of resnet50.
Expected<std::vector<KernelCase>> suite_cases(const std::string& suite, bool gpu);

/// Data of a case, seeded: elements uniform in [-1, 1), weights scaled down with the length of the sums.
struct KernelData {
  HostArray data, weight, bias;
};
KernelData make_data(const KernelCase& c, uint64_t seed);

/// Adds the case to a graph and makes its result an output.
Expected<void> add_case(graph::GraphBuilder& b, const KernelCase& c, const KernelData& data);

}  // namespace tw::cli::bench
