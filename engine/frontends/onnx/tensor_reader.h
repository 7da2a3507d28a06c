// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "engine/base/expected.h"
#include "engine/base/float_format.h"
#include "engine/base/host_array.h"
#include "engine/frontends/onnx/external_data.h"

namespace tw::frontends {

/// An element type of ONNX as we keep it: integers of less than 8 bits as values in int8 or uint8, floating-point numbers of 8 bits and less as their codes
/// in uint8.
struct ElementType {
  DType storage;
  int bits = 0;                         ///< of an element in a file
  const FloatFormat* format = nullptr;  ///< of codes
  bool is_narrow() const { return format || bits < 8; }
};

/// Errors: unsupported, naming ONNX's type.
Expected<ElementType> element_of_onnx(int64_t data_type);
bool is_narrow(int64_t data_type);
/// Of those that are no narrower than a byte and no codes.
Expected<DType> dtype_of_onnx(int64_t data_type);
int64_t onnx_of_dtype(DType t);
/// ONNX's name of an element type, such as `FLOAT8E4M3FN`.
std::string onnx_dtype_name(int64_t data_type);

/// A tensor from typed fields, raw bytes or external data, in its storage type. Errors: unsupported element types, resource_limit, corrupt amounts of data, and
/// those of external data.
Expected<HostArray> read_tensor(const onnx::TensorProto& t, ExternalData& external);
/// The same with the zeros that the file leaves out. Errors also: corrupt positions.
Expected<HostArray> read_sparse_tensor(const onnx::SparseTensorProto& t, ExternalData& external);

}  // namespace tw::frontends
