// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/te/dag.h"

/// Computations spelled as TVM's operator library spells them: Ansor names a task by the MD5 of that text, so that its records say what they are of only to those
/// who can write the text again.
/// Source: TVM v0.9.0, `ComputeDAG::PrintDAG` and the definitions of topi (text and names only), checked against the keys of TVM's published records and of TVM 0.16.
namespace tw::records {

/// A dag as TVM prints it for its key: one line a definition in TVM's order, shapes left out. A number after `_` at the end of a name, which makes our names
/// unique, is left out too.
std::string tvm_text(const te::Dag& dag);
/// `["HASH", [shape of the first array], ...]`, as TVM 0.9 has it. A computation that topi defines has the keys of its definitions, whatever its names are here:
/// one for each way in which versions of TVM spell it and order its sums, the latest and its own order first. One that is spelled as one of them has that key alone.
std::vector<std::string> tvm_workload_keys(const te::Dag& dag);

/// The computation that a key of TVM's records names, with its shapes flattened or not: convolutions with channels last, of every channel by itself too, dense
/// layers, softmax, global averages, each with what is added, multiplied and cut off after it. The MD5 decides. What a key does not say is taken as usual: borders are the same on opposite sides.
/// Errors: parse_error for what is no such key; unsupported for keys of other computations, and of functions that their users wrote.
Expected<te::DagPtr> topi_definition(const std::string& workload_key);

}  // namespace tw::records
