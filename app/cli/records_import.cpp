// SPDX-License-Identifier: Apache-2.0
// `tw records import`: logs of other systems into a database.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>

#include "app/cli/command.h"
#include "app/cli/common.h"
#include "app/cli/console.h"
#include "app/cli/host.h"
#include "app/cli/records.h"
#include "app/cli/tuning.h"
#include "app/cli/workspace.h"
#include "app/logs/import_log.h"
#include "engine/base/json.h"
#include "engine/base/text.h"

namespace tw::cli {
namespace {

/// The logs that `paths` name: of a folder, as TenSet keeps a file for each task, all that end in `.json`, at any depth, in the alphabet's order. Errors: not_found for a folder without any; io_error.
Expected<std::vector<std::string>> logs_of(const std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      out.push_back(path);
      continue;
    }
    const auto first = static_cast<std::ptrdiff_t>(out.size());
    fs::recursive_directory_iterator at(path, error);
    for (std::error_code gone; !error && at != fs::recursive_directory_iterator(); at.increment(error))
      if (at->path().extension() == ".json" && at->is_regular_file(gone)) out.push_back(at->path().string());  // a link may lead nowhere
    if (error) return Error(ErrorCode::io_error, fmt::format("Expected to read the folder: {}", error.message()), path);
    if (first == static_cast<std::ptrdiff_t>(out.size())) return Error(ErrorCode::not_found, "Expected files that end in '.json', found none in the folder", path);
    std::sort(out.begin() + first, out.end());
  }
  return out;
}

/// What logs came to, all together.
struct Imported {
  std::set<std::string> formats;
  int64_t lines = 0, comments = 0, tasks = 0, foreign = 0, stored = 0, failures = 0, there = 0, unread = 0;
  std::map<std::string, int64_t> skipped;  ///< lines by reason
  std::vector<std::string> problems;       ///< those lines

  /// `of`: the log's name before its lines, where there are several.
  void add(const logs::ImportedLog& log, const std::string& of) {
    formats.insert(logs::format_name(log.content.format));
    lines += log.content.lines;
    comments += log.content.comments;
    tasks += static_cast<int64_t>(log.content.tasks.size());
    foreign += std::count_if(log.content.tasks.begin(), log.content.tasks.end(), [](const logs::LogTask& t) { return !t.computable; });
    stored += log.stored;
    failures += log.failures;
    there += log.there;
    for (const records::LineProblem& p : log.content.problems) {
      ++skipped[p.kind];
      problems.push_back(of + problem_text(p));
    }
  }
};

}  // namespace

int import_records(const RecordsArguments& o) {
  std::optional<LoadedNetwork> loaded;
  if (!o.network.model.empty()) {
    int exit = kDone;
    loaded = load_network(o.network, exit);
    if (!loaded) return exit;
  }
  auto db = open_workspace(o.db);
  if (!db) return fail(db.error());
  ModelId model;
  if (loaded) {
    const auto stored = store_network(**db, *loaded, o.network.model, api::network_tasks(loaded->network, loaded->target));
    if (!stored) return fail(stored.error());
    model = stored->model;
  }
  const Target target = loaded ? loaded->target : host_target();
  logs::ImportOptions options;
  options.model = model;
  options.target = &target;
  options.host = host_description();
  outlive_terminal();
  const auto paths = logs_of(o.logs);
  if (!paths) return fail_input(paths.error());
  Imported all;
  for (const std::string& path : *paths) {
    auto log = logs::read_log(**db, path, options, stop_token());
    if (!log && (paths->size() == 1 || log.error().code == ErrorCode::cancelled)) return fail_input(log.error());
    if (!log) {
      note("skipped: " + log.error().text());
      ++all.unread;
      continue;
    }
    logs::ImportProgress progress;
    const auto result = logs::store_log(**db, *std::move(log), options, stop_token(), progress);
    if (!result) return fail_input(result.error());
    all.add(*result, paths->size() == 1 ? std::string() : fmt::format("'{}', ", printable(path)));
  }
  note_skipped(all.problems.size(), [&](size_t i) { return all.problems[i]; });
  if (o.json) {
    Json document = {{"format", fmt::format("{}", fmt::join(all.formats, ", "))},
                     {"lines", all.lines},
                     {"comments", all.comments},
                     {"tasks", all.tasks},
                     {"foreign_tasks", all.foreign},
                     {"stored", all.stored},
                     {"stored_failures", all.failures},
                     {"already_there", all.there},
                     {"skipped", all.problems.size()},
                     {"skipped_by_reason", all.skipped}};
    if (paths->size() > 1) document.update({{"files", paths->size()}, {"files_skipped", all.unread}});
    print_json(document);
  } else {
    std::vector<std::string> counts;
    for (const auto& [kind, count] : all.skipped) counts.push_back(fmt::format("{} {}", count, kind));
    print("{}{} records of {} tasks stored, {} of them failures; {}{} skipped{}\n", paths->size() > 1 ? fmt::format("{} files: ", paths->size() - all.unread) : "", all.stored, all.tasks, all.failures,
          all.there > 0 ? fmt::format("{} were already there; ", all.there) : "", all.problems.size(), counts.empty() ? "" : fmt::format(": {}", fmt::join(counts, ", ")));
  }
  return all.stored + all.there == 0 && all.problems.size() + static_cast<size_t>(all.unread) > 0 ? kBadInput : kDone;
}

}  // namespace tw::cli
