// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/spool.h"

#include <algorithm>
#include <filesystem>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/process/frame.h"

namespace tw::farm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnding = ".result";

bool is_spooled(std::string_view beginning) { return beginning.starts_with("TWF1"); }
constexpr FileKind kSpooled{"a result that waits to be sent", &is_spooled};

}  // namespace

Expected<Spool> Spool::open(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error(ErrorCode::io_error, fmt::format("Expected to make a folder for results: {}", error.message()), folder);
  Spool spool(folder);
  std::vector<fs::path> files;
  for (const auto& file : fs::directory_iterator(folder, error))
    if (file.path().extension() == kEnding) files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& path : files) {
    const auto text = read_file(path.string());
    const auto frame = text ? process::decode_frame(std::as_bytes(std::span(*text))) : Expected<process::Frame>(text.error());
    Entry e;
    bool whole = frame.has_value();
    std::string sha;
    for (const auto& [key, to] : {std::pair{"identity", &e.identity}, std::pair{"acknowledge", &e.acknowledge}, std::pair{"sha", &sha}}) {
      whole = whole && frame->header.contains(key) && frame->header[key].is_string();
      if (whole) *to = frame->header[key].get<std::string>();
    }
    whole = whole && sha == sha256_hex(frame->payload);
    if (!whole) {
      fs::remove(path, error);
      continue;
    }
    e.result.assign(reinterpret_cast<const char*>(frame->payload.data()), frame->payload.size());
    spool.entries_.push_back(std::move(e));
  }
  return spool;
}

/// Trials' names are checked when jobs are read; a digest is a name without surprises whatever they hold.
std::string Spool::path_of(const std::string& identity) const { return (fs::path(folder_) / (sha256_hex(std::as_bytes(std::span(identity))).substr(0, 32) + kEnding)).string(); }

Expected<void> Spool::add(const Entry& entry) {
  entries_.push_back(entry);
  const auto bytes = std::as_bytes(std::span(entry.result));
  const Json header{{"identity", entry.identity}, {"acknowledge", entry.acknowledge}, {"sha", sha256_hex(bytes)}};
  const std::vector<std::byte> wire = process::encode_frame(header, bytes);
  return write_file(path_of(entry.identity), kSpooled, std::string_view(reinterpret_cast<const char*>(wire.data()), wire.size()));
}

void Spool::remove(const std::string& identity) {
  std::erase_if(entries_, [&](const Entry& e) { return e.identity == identity; });
  std::error_code error;
  fs::remove(path_of(identity), error);
}

}  // namespace tw::farm
