// SPDX-License-Identifier: Apache-2.0
// What the libraries of the portable archive ask of a newer C library than the oldest that it runs on.
#include <sys/random.h>

#include <cstdlib>

/// glibc 2.36 brought it; LLVM and the C++ library of Debian 12 call it. They find this one, as the program comes before its libraries.
extern "C" __attribute__((visibility("default"), used)) unsigned int arc4random() {
  unsigned int value = 0;
  if (getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) std::abort();
  return value;
}
