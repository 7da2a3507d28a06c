// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/ops/ops.h"

namespace tw::graph {

namespace {

std::vector<OpDef> build() {
  std::vector<OpDef> all;
  const auto append = [&](std::vector<OpDef> rows) { all.insert(all.end(), rows.begin(), rows.end()); };
  append(ops::unary());
  append(ops::binary());
  append(ops::cast());
  append(ops::float_code());
  append(ops::where());
  append(ops::conv());
  append(ops::conv_nhwc());
  append(ops::conv_transpose());
  append(ops::dense());
  append(ops::dense_bytes());
  append(ops::conv2d_bytes());
  append(ops::matmul());
  append(ops::einsum());
  append(ops::pool());
  append(ops::max_pool_indices());
  append(ops::lrn());
  append(ops::batch_norm());
  append(ops::instance_norm());
  append(ops::layer_norm());
  append(ops::rms_norm());
  append(ops::softmax());
  append(ops::reduce());
  append(ops::arg_reduce());
  append(ops::cumsum());
  append(ops::top_k());
  append(ops::reshape());
  append(ops::transpose());
  append(ops::broadcast_to());
  append(ops::columns_to_image());
  append(ops::concat());
  append(ops::slice());
  append(ops::pad());
  append(ops::tile());
  append(ops::trilu());
  append(ops::gather());
  append(ops::gather_elements());
  append(ops::gather_nd());
  append(ops::one_hot());
  append(ops::reverse_sequence());
  append(ops::scatter_elements());
  append(ops::scatter_nd());
  append(ops::resample());
  append(ops::expression());
  return all;
}

}  // namespace

std::span<const OpDef> operators() {
  static const std::vector<OpDef> table = build();
  return table;
}

}  // namespace tw::graph
