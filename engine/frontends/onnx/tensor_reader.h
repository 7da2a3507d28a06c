// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <onnx/onnx_pb.h>

#include "engine/base/host_array.h"
#include "engine/frontends/onnx/external_data.h"

namespace tw::frontends {

/// Our type for an ONNX element type. Errors: unsupported for strings, complex numbers and sub-byte types.
Expected<DType> dtype_of_onnx(int64_t data_type);
/// ONNX's name, such as `FLOAT`; the number for types that this build of the messages does not know.
std::string onnx_dtype_name(int64_t data_type);

/// Decodes a tensor from raw bytes, typed fields or external data.
/// Errors: unsupported (element type), corrupt (an amount of data that does not fit the shape), resource_limit, and those of ExternalData::read.
Expected<HostArray> read_tensor(const onnx::TensorProto& t, ExternalData& external);

}  // namespace tw::frontends
