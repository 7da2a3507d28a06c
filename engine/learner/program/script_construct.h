// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/jit/ir/ir.h>

#include <string>
#include <vector>

namespace tw::learner {

/// Whether a kind of node puts lists, tuples, dictionaries and objects together, takes them apart or asks what they are.
bool is_constructor(const std::string& kind);
/// Its results. Throws ScriptRefusal where values and node do not agree.
std::vector<c10::IValue> construct(torch::jit::Node* n, const std::string& kind, std::vector<c10::IValue> values);

}  // namespace tw::learner
