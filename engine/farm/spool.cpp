// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/spool.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/sha256.h"
#include "engine/base/text.h"
#include "engine/farm/messages.h"
#include "engine/process/frame.h"

namespace tw::farm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kEnding = ".result";

std::string spool_path(const std::string& folder, size_t number) { return (fs::path(folder) / fmt::format("{}{}", number, kEnding)).string(); }

int open_spool_file(const std::string& path) { return ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600); }

/// The entry that a file holds; nothing if it is empty, free, or was half written. What follows it is of an earlier, longer one.
std::optional<Spool::Entry> entry_in(int fd) {
  process::FrameReader reader(kMostResultBytes);
  if (!reader.fill(fd)) return std::nullopt;
  const auto read = reader.next();
  if (!read || !*read) return std::nullopt;
  const process::Frame& frame = **read;
  Spool::Entry e;
  std::string sha;
  for (const auto& [key, to] :
       {std::pair{"identity", &e.identity}, std::pair{"subject", &e.subject}, std::pair{"acknowledge", &e.acknowledge}, std::pair{"sha", &sha}}) {
    if (!frame.header.contains(key) || !frame.header[key].is_string()) return std::nullopt;
    *to = frame.header[key].get<std::string>();
  }
  if (e.identity.empty() || sha != sha256_hex(frame.payload)) return std::nullopt;
  e.result.assign(reinterpret_cast<const char*>(frame.payload.data()), frame.payload.size());
  return e;
}

Expected<void> write_spool_file(int fd, std::span<const std::byte> bytes, const std::string& folder) {
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t n = ::pwrite(fd, bytes.data() + at, bytes.size() - at, static_cast<off_t>(at));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return system_error("Writing a result", folder);
    at += static_cast<size_t>(n);
  }
  if (::fdatasync(fd) != 0) return system_error("Syncing a result", folder);
  return {};
}

}  // namespace

Spool::Spool(Spool&& other) noexcept : folder_(std::move(other.folder_)), entries_(std::move(other.entries_)), files_(std::exchange(other.files_, {})) {}
Spool::~Spool() {
  for (const File& f : files_) ::close(f.fd);
}

Expected<Spool> Spool::open(const std::string& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Error(ErrorCode::io_error, fmt::format("Expected to make a folder for results: {}", error.message()), folder);
  Spool spool(folder);
  for (size_t number = 0; fs::exists(spool_path(folder, number), error); ++number) {
    const int fd = open_spool_file(spool_path(folder, number));
    if (fd < 0) return system_error("Opening a result", folder);
    spool.files_.push_back({fd, {}});
    auto entry = entry_in(fd);
    if (!entry) continue;
    spool.files_.back().identity = entry->identity;
    spool.entries_.push_back(std::move(*entry));
  }
  return spool;
}

std::future<Expected<void>> Spool::add(const Entry& entry, const std::function<void()>& done) {
  entries_.push_back(entry);
  auto file = std::find_if(files_.begin(), files_.end(), [](const File& f) { return f.identity.empty(); });
  std::string fresh;
  if (file == files_.end()) {
    fresh = spool_path(folder_, files_.size());
    file = files_.insert(files_.end(), {open_spool_file(fresh), {}});
  }
  const Error unopened = file->fd < 0 ? system_error("Making a file for a result", fresh) : Error(ErrorCode::internal, "");
  const int fd = file->fd;
  if (fd < 0) {
    files_.pop_back();
  } else {
    file->identity = entry.identity;
  }
  return std::async(std::launch::async, [fd, fresh, unopened, entry, done, folder = folder_]() -> Expected<void> {
    const auto bytes = std::as_bytes(std::span(entry.result));
    const Json header{{"identity", entry.identity}, {"subject", entry.subject}, {"acknowledge", entry.acknowledge}, {"sha", sha256_hex(bytes)}};
    Expected<void> written = fd < 0 ? Expected<void>(unopened) : write_spool_file(fd, process::encode_frame(header, bytes), folder);
    if (written && !fresh.empty()) written = sync_file(fresh);  // its name
    done();
    return written;
  });
}

void Spool::remove(const std::string& identity) {
  std::erase_if(entries_, [&](const Entry& e) { return e.identity == identity; });
  for (File& f : files_) {
    if (f.identity != identity) continue;
    f.identity.clear();
    // Not waited for: one that comes back with a power cut is sent once more, and known there.
    const uint32_t nothing = 0;
    [[maybe_unused]] const auto written = ::pwrite(f.fd, &nothing, sizeof nothing, 0);
  }
}

}  // namespace tw::farm
