// SPDX-License-Identifier: Apache-2.0
#include "engine/frontends/torch/zip_archive.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/text.h"
#include "engine/frontends/torch/limits.h"

namespace tw::frontends {

namespace {

// The directory's layout. Source: PKWARE, APPNOTE.TXT - .ZIP File Format Specification, 4.3.
constexpr uint32_t kLocal = 0x04034b50, kCentral = 0x02014b50, kEnd = 0x06054b50, kEnd64 = 0x06064b50, kLocator64 = 0x07064b50;
constexpr int64_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30, kLocatorBytes = 20, kEnd64Bytes = 56, kCommentBytes = 65535;

Error corrupt(const std::string& what) { return Error(ErrorCode::corrupt, what); }

template <class T>
T little(const unsigned char* p) {
  T v = 0;
  for (size_t i = 0; i < sizeof(T); ++i) v |= static_cast<T>(p[i]) << (8 * i);
  return v;
}

Expected<void> read_at(int fd, void* out, int64_t count, int64_t offset) {
  auto* p = static_cast<char*>(out);
  while (count > 0) {
    const ssize_t n = pread(fd, p, static_cast<size_t>(count), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return Error(ErrorCode::io_error, fmt::format("Reading the archive failed: {}", n == 0 ? "unexpected end" : std::strerror(errno)));
    p += n;
    count -= n;
    offset += n;
  }
  return {};
}

struct Directory {
  int64_t offset = 0, bytes = 0;
};

/// Where the directory lies, by the record at the end of the file.
Expected<Directory> find_directory(int fd, int64_t size) {
  const int64_t tail = std::min(size, kEndBytes + kCommentBytes);
  std::vector<unsigned char> end(static_cast<size_t>(tail));
  TW_CHECK(read_at(fd, end.data(), tail, size - tail));
  for (int64_t at = tail - kEndBytes; at >= 0; --at) {
    const unsigned char* p = end.data() + at;
    if (little<uint32_t>(p) != kEnd) continue;
    Directory d{little<uint32_t>(p + 16), little<uint32_t>(p + 12)};
    const int64_t record = size - tail + at;
    if (d.offset == 0xffffffff || d.bytes == 0xffffffff || little<uint16_t>(p + 10) == 0xffff) {
      if (record < kLocatorBytes) return corrupt("Expected the directory of a large archive, found none");
      unsigned char locator[kLocatorBytes], large[kEnd64Bytes];
      TW_CHECK(read_at(fd, locator, kLocatorBytes, record - kLocatorBytes));
      const auto where = static_cast<int64_t>(little<uint64_t>(locator + 8));
      if (little<uint32_t>(locator) != kLocator64 || where < 0 || where > size - kEnd64Bytes) return corrupt("Expected the directory of a large archive, found none");
      TW_CHECK(read_at(fd, large, kEnd64Bytes, where));
      if (little<uint32_t>(large) != kEnd64) return corrupt("Expected the directory of a large archive, found none");
      d = {static_cast<int64_t>(little<uint64_t>(large + 48)), static_cast<int64_t>(little<uint64_t>(large + 40))};
    }
    if (d.offset < 0 || d.bytes < 0 || d.offset > record || d.bytes > record - d.offset) return corrupt("Expected a directory inside of the archive, found one that leaves it");
    return d;
  }
  return Error(ErrorCode::parse_error, "Expected a zip archive, found a file without its directory (another format, or cut off)");
}

struct Entry {
  std::string name;
  int64_t header = 0, size = 0, stored = 0;
  uint16_t method = 0, flags = 0;
};

/// Numbers that did not fit stand in an extra field, in this order.
Expected<void> widen(Entry& e, const unsigned char* extra, int64_t bytes) {
  while (bytes >= 4) {
    const int64_t length = little<uint16_t>(extra + 2);
    if (length > bytes - 4) return corrupt("Expected extra fields inside of their entry, found one that leaves it");
    if (little<uint16_t>(extra) == 1) {
      const unsigned char* p = extra + 4;
      int64_t left = length;
      for (int64_t* v : {&e.size, &e.stored, &e.header}) {
        if (*v != 0xffffffff) continue;
        if (left < 8) return corrupt("Expected the size of a large member, found none");
        *v = static_cast<int64_t>(little<uint64_t>(p));
        p += 8;
        left -= 8;
      }
    }
    extra += 4 + length;
    bytes -= 4 + length;
  }
  return {};
}

Expected<std::vector<Entry>> read_entries(int fd, const Directory& d) {
  if (d.bytes > torch_limits::kMembers * (kCentralBytes + 256)) return Error(ErrorCode::resource_limit, "Expected a smaller archive directory");
  std::vector<unsigned char> raw(static_cast<size_t>(d.bytes));
  TW_CHECK(read_at(fd, raw.data(), d.bytes, d.offset));
  std::vector<Entry> entries;
  for (int64_t at = 0; at + kCentralBytes <= d.bytes;) {
    const unsigned char* p = raw.data() + at;
    if (little<uint32_t>(p) != kCentral) break;
    const int64_t name = little<uint16_t>(p + 28), extra = little<uint16_t>(p + 30), comment = little<uint16_t>(p + 32);
    if (at + kCentralBytes + name + extra + comment > d.bytes) return corrupt("Expected entries inside of the archive's directory, found one that leaves it");
    Entry e{std::string(reinterpret_cast<const char*>(p + kCentralBytes), static_cast<size_t>(name)), little<uint32_t>(p + 42), little<uint32_t>(p + 24),
            little<uint32_t>(p + 20), little<uint16_t>(p + 10), little<uint16_t>(p + 8)};
    TW_CHECK(widen(e, p + kCentralBytes + name, extra));
    entries.push_back(std::move(e));
    if (static_cast<int64_t>(entries.size()) > torch_limits::kMembers)
      return Error(ErrorCode::resource_limit, fmt::format("Expected at most {} members, found more", torch_limits::kMembers));
    at += kCentralBytes + name + extra + comment;
  }
  return entries;
}

/// Names are relative, without parts that climb.
Expected<void> check_name(const std::string& name) {
  const std::string shown = printable(name.substr(0, 256));
  if (name.empty() || static_cast<int64_t>(name.size()) > torch_limits::kNameBytes || name[0] == '/' || name.find('\\') != std::string::npos ||
      name.find('\0') != std::string::npos)
    return corrupt(fmt::format("Expected relative names of members, found '{}'", shown));
  for (size_t from = 0; from <= name.size();) {
    const size_t to = std::min(name.find('/', from), name.size());
    if (name.compare(from, to - from, "..") == 0) return corrupt(fmt::format("Expected names that stay in the archive, found '{}'", shown));
    from = to + 1;
  }
  return {};
}

Expected<ZipArchive::Member> check_member(int fd, const Entry& e, uint64_t index, int64_t size, bool packed) {
  const std::string shown = printable(e.name.substr(0, 256));
  const bool deflated = packed && e.method == 8;
  if ((e.method != 0 && !deflated) || (e.flags & 1) != 0)
    return Error(ErrorCode::unsupported, fmt::format("Expected members that are stored as they are, found '{}' compressed or encrypted", shown));
  if (e.size != e.stored && !deflated) return corrupt(fmt::format("Expected {} bytes of '{}', found {}", e.size, shown, e.stored));
  if (e.header < 0 || e.header > size - kLocalBytes) return corrupt(fmt::format("Expected '{}' inside of the archive, found it outside", shown));
  unsigned char local[kLocalBytes];
  TW_CHECK(read_at(fd, local, kLocalBytes, e.header));
  const int64_t offset = e.header + kLocalBytes + little<uint16_t>(local + 26) + little<uint16_t>(local + 28);
  if (little<uint32_t>(local) != kLocal || e.size < 0 || e.stored < 0 || offset > size || e.stored > size - offset)
    return corrupt(fmt::format("Expected '{}' inside of the archive, found it outside", shown));
  return ZipArchive::Member{index, offset, e.stored};
}

}  // namespace

void ZipArchive::Closer::operator()(zip* z) const { zip_discard(z); }

Expected<ZipArchive> ZipArchive::open(const std::string& path, bool packed) {
  ZipArchive a;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0)
    return Error(errno == ENOENT ? ErrorCode::not_found : ErrorCode::io_error, fmt::format("Opening '{}' failed: {}", printable(path), std::strerror(errno)));
  const auto close_it = [](const int* f) { close(*f); };
  const std::unique_ptr<const int, decltype(close_it)> closer(&fd, close_it);
  struct stat info {};
  if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
    return Error(ErrorCode::invalid_argument, fmt::format("Expected a file at '{}', found something else", printable(path)));
  TW_TRY(const Directory directory, find_directory(fd, info.st_size));
  TW_TRY(const std::vector<Entry> entries, read_entries(fd, directory));
  int64_t unpacked = 0;
  std::vector<std::pair<int64_t, int64_t>> ranges{{directory.offset, directory.offset + directory.bytes}};
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].name.empty() && entries[i].name.back() == '/' && entries[i].size == 0) continue;  // a folder
    TW_CHECK(check_name(entries[i].name));
    TW_TRY(const Member member, check_member(fd, entries[i], i, info.st_size, packed));
    if (entries[i].method != 0) unpacked += std::min(entries[i].size, torch_limits::kCodeBytes + 1);
    if (unpacked > torch_limits::kCodeBytes) return Error(ErrorCode::resource_limit, "Expected compressed members of at most 64 MiB in all, found more");
    if (!a.members_.emplace(entries[i].name, member).second)
      return corrupt(fmt::format("Expected every member once, found '{}' twice", printable(entries[i].name.substr(0, 256))));
    ranges.emplace_back(entries[i].header, member.offset + member.size);
  }
  std::sort(ranges.begin(), ranges.end());
  for (size_t i = 1; i < ranges.size(); ++i)
    if (ranges[i].first < ranges[i - 1].second) return corrupt("Expected members beside each other, found some that overlap");
  int code = 0;
  a.zip_.reset(zip_open(path.c_str(), ZIP_RDONLY, &code));
  if (!a.zip_) return Error(ErrorCode::parse_error, fmt::format("Expected a zip archive, libzip found error {}", code));
  if (zip_get_num_entries(a.zip_.get(), 0) != static_cast<zip_int64_t>(entries.size())) return corrupt("Expected one directory, found two that differ");
  return a;
}

const ZipArchive::Member* ZipArchive::find(const std::string& name) const {
  const auto it = members_.find(name);
  return it == members_.end() ? nullptr : &it->second;
}

Expected<std::vector<std::byte>> ZipArchive::read(const std::string& name) const {
  const Member* member = find(name);
  const std::string shown = printable(name.substr(0, 256));
  if (!member) return Error(ErrorCode::not_found, fmt::format("Expected '{}' in the archive, found none", shown));
  const std::unique_ptr<zip_file_t, decltype(&zip_fclose)> file(zip_fopen_index(zip_.get(), member->index, 0), &zip_fclose);
  if (!file) return corrupt(fmt::format("Reading '{}' failed: {}", shown, zip_strerror(zip_.get())));
  std::vector<std::byte> out(static_cast<size_t>(member->size));
  size_t done = 0;
  while (done < out.size()) {
    const zip_int64_t n = zip_fread(file.get(), out.data() + done, out.size() - done);
    if (n <= 0) return corrupt(fmt::format("Expected {} bytes of '{}', found {}", out.size(), shown, done));
    done += static_cast<size_t>(n);
  }
  std::byte more{};
  if (zip_fread(file.get(), &more, 1) != 0) return corrupt(fmt::format("Expected '{}' to have the checksum and size that the directory names, found others", shown));
  return out;
}

}  // namespace tw::frontends
