// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "engine/graph/ops/support.h"

/// Rows of the operator table, one function per file.
namespace tw::graph::ops {

std::vector<OpDef> unary();
std::vector<OpDef> binary();
std::vector<OpDef> cast();
std::vector<OpDef> float_code();
std::vector<OpDef> where();

std::vector<OpDef> conv();
std::vector<OpDef> conv_nhwc();
std::vector<OpDef> conv_transpose();
std::vector<OpDef> dense();
std::vector<OpDef> dense_bytes();
std::vector<OpDef> conv2d_bytes();
std::vector<OpDef> matmul();
std::vector<OpDef> einsum();
std::vector<OpDef> pool();
std::vector<OpDef> max_pool_indices();
std::vector<OpDef> lrn();

std::vector<OpDef> batch_norm();
std::vector<OpDef> instance_norm();
std::vector<OpDef> layer_norm();
std::vector<OpDef> rms_norm();
std::vector<OpDef> softmax();
std::vector<OpDef> reduce();
std::vector<OpDef> arg_reduce();
std::vector<OpDef> cumsum();
std::vector<OpDef> top_k();

std::vector<OpDef> reshape();
std::vector<OpDef> transpose();
std::vector<OpDef> broadcast_to();
std::vector<OpDef> columns_to_image();
std::vector<OpDef> concat();
std::vector<OpDef> slice();
std::vector<OpDef> pad();
std::vector<OpDef> tile();
std::vector<OpDef> trilu();
std::vector<OpDef> one_hot();
std::vector<OpDef> reverse_sequence();
std::vector<OpDef> gather();
std::vector<OpDef> gather_elements();
std::vector<OpDef> gather_nd();
std::vector<OpDef> scatter_elements();
std::vector<OpDef> scatter_nd();
std::vector<OpDef> resample();

std::vector<OpDef> expression();

}  // namespace tw::graph::ops
