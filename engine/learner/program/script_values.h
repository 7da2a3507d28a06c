// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/function_schema.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/json.h"

/// Values of TorchScript as an exported program of PyTorch writes them. Source: torch/_export/serde/schema.py of PyTorch 2.15, schema 8.
namespace tw::learner {

/// Why a TorchScript file cannot be read. Thrown inside of the process and caught where a question is answered.
struct ScriptRefusal {
  Error error;
};
[[noreturn]] void refuse_script(ErrorCode code, const std::string& message, const std::string& where = {});

/// Calls `visit` for every tensor in a value, those in lists, tuples and dictionaries too; undefined ones are left out.
void for_each_tensor(const c10::IValue& v, const std::function<void(const at::Tensor&)>& visit);

using NameOf = std::function<std::string(const at::Tensor&)>;
/// An argument of a function. Nothing that an exported program has a form for is left out; the rest (devices, generators) is nothing.
Json argument_json(const c10::IValue& v, const c10::Argument& argument, const NameOf& name_of);
/// Element type, sizes and strides.
Json tensor_json(const at::Tensor& t);
Json named_tensor(const std::string& name);

}  // namespace tw::learner
