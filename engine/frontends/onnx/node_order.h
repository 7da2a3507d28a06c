// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <vector>

namespace tw::frontends {

/// Nodes so that each stands behind those whose results it reads, itself or in a graph inside it, and otherwise as they stand. The standard asks writers for that
/// order, but ONNX Runtime makes it itself, and files without it are about. Nodes of a circle are the last.
std::vector<const onnx::NodeProto*> in_order(const google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes);

}  // namespace tw::frontends
