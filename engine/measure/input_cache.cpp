// SPDX-License-Identifier: Apache-2.0
#include "engine/measure/input_cache.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "engine/base/text.h"

namespace tw::measure {

namespace {

Error no_memory(size_t bytes) {
  return Error(ErrorCode::out_of_memory, fmt::format("No shared memory for an input of {} bytes: {}", bytes, std::strerror(errno)));
}

Expected<const std::byte*> make_sealed(const runtime::ArgSpec& spec, const InputRange& range, uint64_t seed, size_t bytes) {
  const int fd = ::memfd_create("input", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (fd < 0) return no_memory(bytes);
  struct Closer {
    int fd;
    ~Closer() { ::close(fd); }
  } closer{fd};
  if (::posix_fallocate(fd, 0, static_cast<off_t>(bytes)) != 0) return no_memory(bytes);
  void* p = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return no_memory(bytes);
  fill_random(spec.dtype, spec.num_elements(), range, seed, static_cast<std::byte*>(p));
  ::munmap(p, bytes);
  ::fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  p = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, 0);
  if (p == MAP_FAILED) return no_memory(bytes);
  return static_cast<const std::byte*>(p);
}

}  // namespace

Expected<std::vector<const std::byte*>> InputCache::get(const MeasureJob& job) {
  const std::vector<int> inputs = job.inputs();
  std::vector<std::string> keys;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::ArgSpec& spec = job.signature.args[static_cast<size_t>(inputs[i])];
    keys.push_back(fmt::format("{} {} {} [{}, {}] {}", i, spec.dtype.name(), shape_text(spec.shape), job.ranges[i].lo, job.ranges[i].hi, job.seed));
  }
  arrays_.begin();
  std::vector<const std::byte*> out;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const runtime::ArgSpec& spec = job.signature.args[static_cast<size_t>(inputs[i])];
    const Mapping* known = arrays_.find(keys[i]);
    if (known == nullptr) {
      const auto bytes = static_cast<size_t>(std::max<int64_t>(spec.num_elements() * spec.dtype.bytes(), 1));
      TW_TRY(const std::byte* data, make_sealed(spec, job.ranges[i], input_seed(job.seed, static_cast<int>(i)), bytes));
      known = &arrays_.put(keys[i], Mapping(data, Unmap{bytes}), static_cast<int64_t>(bytes));
    }
    out.push_back(known->get());
  }
  return out;
}

void InputCache::Unmap::operator()(const std::byte* data) const { ::munmap(const_cast<std::byte*>(data), bytes); }

}  // namespace tw::measure
