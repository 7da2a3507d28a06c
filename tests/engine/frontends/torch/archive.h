// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// Zip archives written by hand for the tests of their reader.
namespace archive_test {

struct Member {
  std::string name, data;
  uint16_t method = 0;
  int64_t stored = -1;  ///< what the directory says of its size; -1: the truth
  int64_t header = -1;  ///< and of its place
};

inline uint32_t checksum(const std::string& data) {
  uint32_t c = ~0U;
  for (const char byte : data) {
    c ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) c = c >> 1 ^ (c & 1 ? 0xedb88320U : 0);
  }
  return ~c;
}

inline std::string number(uint64_t v, int bytes) {
  std::string s;
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> 8 * i & 0xff);
  return s;
}

/// Source: PKWARE, APPNOTE.TXT - .ZIP File Format Specification, 4.3.
inline std::string zip(const std::vector<Member>& members) {
  std::string file, directory;
  for (const Member& m : members) {
    const uint64_t header = m.header >= 0 ? static_cast<uint64_t>(m.header) : file.size(), size = m.stored >= 0 ? static_cast<uint64_t>(m.stored) : m.data.size();
    const std::string common = number(20, 2) + number(0, 2) + number(m.method, 2) + number(0, 4) + number(checksum(m.data), 4) + number(size, 4) + number(size, 4) +
                               number(m.name.size(), 2) + number(0, 2);
    file += "PK\x03\x04" + common + m.name + m.data;
    directory += "PK\x01\x02" + number(20, 2) + common + number(0, 2) + number(0, 2) + number(0, 2) + number(0, 4) + number(header, 4) + m.name;
  }
  const uint64_t at = file.size();
  return file + directory + "PK\x05\x06" + number(0, 4) + number(members.size(), 2) + number(members.size(), 2) + number(directory.size(), 4) + number(at, 4) +
         number(0, 2);
}

}  // namespace archive_test
