// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include <map>
#include <string>
#include <vector>

/// Fields that ONNX added after the messages that we are built with: protobuf keeps them undecoded. Source: onnx.proto of ONNX 1.23.
namespace tw::frontends {

/// Which of several functions of one name a node means (field 8 of NodeProto, 13 of FunctionProto); empty if there is one alone.
std::string overload_of(const onnx::NodeProto& n);
std::string overload_of(const onnx::FunctionProto& f);
/// Attributes of a function that have a default value (field 11 of FunctionProto).
std::vector<onnx::AttributeProto> attribute_defaults(const onnx::FunctionProto& f);
/// What exporters say about a node (field 9 of NodeProto), by key.
std::map<std::string, std::string> metadata_of(const onnx::NodeProto& n);

}  // namespace tw::frontends
