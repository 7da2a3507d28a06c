// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/worker_pool.h"
#include "engine/records/json_lines.h"
#include "engine/target/host.h"

/// Logs are read on all cores, piece by piece.
namespace tw::records {

/// Text in pieces of about `bytes` each, cut behind line ends; one piece if it is shorter.
std::vector<std::string_view> pieces_of_lines(std::string_view text, size_t bytes);

/// What `read` makes of a log, as if it had seen all of it at once. A log has `records` with their `line`, `problems`, and how many `lines` and `comments` there are.
template <class Read>
auto read_in_pieces(std::string_view text, const Read& read, size_t bytes = size_t{1} << 20) {
  using Log = decltype(read(text));
  const std::vector<std::string_view> pieces = pieces_of_lines(text, bytes);
  if (pieces.size() < 2) return read(text);
  WorkerPool pool(target::host_cores());
  auto logs = pool.map(pieces.size(), [&](size_t i) { return read(pieces[i]); });
  Log all;
  size_t records = 0;
  for (const auto& log : logs) records += log->records.size();
  all.records.reserve(records);
  int64_t offset = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    for (auto& r : logs[i]->records) {
      r.line += all.lines;
      all.records.push_back(std::move(r));
    }
    for (LineProblem& p : logs[i]->problems) {
      p.line += all.lines, p.offset += offset;
      all.problems.push_back(std::move(p));
    }
    all.lines += logs[i]->lines, all.comments += logs[i]->comments;
    offset += static_cast<int64_t>(pieces[i].size());
  }
  return all;
}

}  // namespace tw::records
