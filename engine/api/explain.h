// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/api/compile.h"
#include "engine/api/provenance.h"
#include "engine/api/time_shares.h"
#include "engine/codegen/codegen.h"
#include "engine/records/record.h"
#include "engine/schedule/schedule.h"
#include "engine/tir/pass.h"

namespace tw::api {

/// Everything the code view shows of one candidate. Parts that failed to build are empty and `error` says why.
struct Explanation {
  std::string steps;    ///< schedule::print_steps, without numbers: whoever shows lines numbers them
  std::string loops;    ///< lower::print_loops
  std::string lowered;  ///< TIR before any pass
  std::string tir;      ///< TIR after all passes
  // For a GPU the first is CUDA C++, the second PTX, or a comment that says why there is none.
  std::string llvm_ir;
  std::string assembly;
  std::string sass;  ///< of a GPU, or a comment that says why there is none; empty for processors
  std::vector<int> llvm_ir_line_to_tir_line, assembly_line_to_tir_line, sass_line_to_tir_line;  ///< as in codegen::Listing
  Provenance provenance;
  TimeShares shares;
  std::optional<Error> error;
};

/// Lowers and compiles a candidate for reading; nothing runs. Takes tens of milliseconds, so not on a GUI thread.
Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps);
/// The same for group `group` of a network's partition on `target`; the provenance reaches up to the nodes of Network::optimized.
Explanation explain(const Network& network, int group, const Target& target, const std::vector<schedule::Step>& steps);
/// The same for a task of a network; the provenance reaches up to the nodes of Network::optimized in all `groups` of the partition that compute the task.
Explanation explain(const records::Task& task, const std::vector<schedule::Step>& steps, const Network& network, std::span<const int> groups);
/// The same without machine code, which takes most of the time: steps, loops, TIR and what belongs together in them.
Explanation outline(const records::Task& task, const std::vector<schedule::Step>& steps, const Network& network, std::span<const int> groups);
/// The same for a kernel of a network, under its symbol.
Explanation explain(const schedule::Schedule& schedule, const std::string& symbol, const Target& target);
/// The steps of a point of the task's template. Errors: not_applicable if the task has no template.
Expected<records::Candidate> candidate_at(const records::Task& task, int64_t config_index);
/// The same for the template of that name, AutoTVM's included. Errors: not_applicable if it does not match the task.
Expected<records::Candidate> candidate_at(const records::Task& task, std::string_view space, int64_t config_index);

}  // namespace tw::api
