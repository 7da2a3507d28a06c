// SPDX-License-Identifier: Apache-2.0
#include "engine/api/import_role.h"

#include <malloc.h>

#include <new>
#include <set>

#include "engine/api/compile.h"
#include "engine/api/import_messages.h"
#include "engine/base/text.h"
#include "engine/graph/derived_constants.h"
#include "engine/measure/message_fields.h"
#include "engine/measure/worker.h"
#include "engine/process/child_process.h"
#include "engine/process/handshake.h"
#include "engine/process/limits.h"
#include "engine/process/shared_memory.h"
#include "engine/process/subprocess.h"

namespace tw::api {

namespace {

using process::kChannelFd;

/// Arrays in this and no more elements than are printed as text travel in the text.
constexpr int kPrinted = 16;

/// What an array follows from goes first.
Expected<void> send_array(const HostArray& array, const process::SharedMemory* shared, std::set<std::string>& sent) {
  const std::string key = graph::constant_key(array);
  if (!sent.insert(key).second) return {};
  if (const graph::Derivation* d = graph::derivation_of(array))
    for (const HostArray& a : d->of) TW_CHECK(send_array(a, shared, sent));
  const Json header = array_header(key, array, shared);
  return process::write_frame(kChannelFd, header, has_payload(header) ? std::span<const std::byte>(array.data) : std::span<const std::byte>());
}

Expected<void> send_graph(const char* which, const graph::Graph& g, const process::SharedMemory* shared, std::set<std::string>& sent) {
  for (const graph::Value& v : g.values) {
    if (!v.constant || v.constant->num_elements() <= kPrinted) continue;
    TW_CHECK(send_array(*v.constant, shared, sent));
  }
  const std::string text = graph::print(g, kPrinted);
  return process::write_frame(kChannelFd, Json{{"graph", which}}, std::as_bytes(std::span(text)));
}

std::vector<std::string> texts(const Json& list) {
  std::vector<std::string> out;
  for (const Json& t : list)
    if (t.is_string()) out.push_back(t.get<std::string>());
  return out;
}

Expected<void> answer(const process::Frame& question, process::MemoryAllowance& memory) {
  const std::string path(reinterpret_cast<const char*>(question.payload.data()), question.payload.size());
  if (question.header.contains("sizes")) {
    TW_TRY(const std::vector<frontends::OpenSize> sizes, frontends::open_sizes(path));
    return process::write_frame(kChannelFd, Json{{"sizes", to_json(sizes)}});
  }
  measure::Fields f(question.header);
  graph::PassHooks hooks;
  hooks.disabled = texts(f.list("disabled"));
  hooks.enabled = texts(f.list("enabled"));
  const bool widens = f.boolean("widens");
  frontends::ImportOptions options;
  for (const Json& dim : f.list("dims"))
    if (dim.is_array() && dim.size() == 2 && dim[0].is_string() && dim[1].is_number_integer()) options.dims[dim[0].get<std::string>()] = dim[1].get<int64_t>();
  options.apart_bytes = f.number<int64_t>("memory_bytes");
  for (const Json& one : f.list("shapes")) {
    measure::Fields s(one);
    frontends::InputShape& shape = options.shapes[s.text("name")];
    if (const auto type = parse_dtype(s.text("type"))) shape.type = *type;
    for (const Json& d : s.list("shape")) shape.shape.push_back(d.is_number_integer() ? d.get<int64_t>() : -1);
    if (s.error()) return *s.error();
  }
  if (f.error()) return *f.error();
  TW_TRY(const Target target, target_from_json(question.header["target"]));
  options.on_external_file = [&](int64_t bytes) {
    if (widens) memory.widen(kMemoryPerByte * bytes);
    [[maybe_unused]] const auto told = process::write_frame(kChannelFd, Json{{"reads", bytes}});  // who is gone asks for no answer either
  };
  TW_TRY(const std::shared_ptr<process::SharedMemory> shared, process::SharedMemory::open(process::kSharedFd));
  options.room = [&](size_t bytes) -> ArrayPlace {
    if (bytes < kSharedBytes) return {};
    process::SharedMemory::Part part = shared->room(bytes);
    return {part.bytes, std::move(part.keeper)};
  };
  TW_TRY(const Network network, import_network(path, target, options, hooks));
  std::set<std::string> sent;
  TW_CHECK(send_graph("imported", network.imported, shared.get(), sent));
  TW_CHECK(send_graph("optimized", network.optimized, shared.get(), sent));
  return process::write_frame(kChannelFd, Json{{"content_key", network.content_key}, {"what", reading_to_json(network)}});
}

}  // namespace

int import_role(int64_t memory_bytes) {
  process::become_child();
  mallopt(M_ARENA_MAX, 1);
  process::limit_this_process({.no_growing_files = true});
  if (!process::write_frame(kChannelFd, process::hello("import", measure::kProtocolVersion))) return 1;
  const auto question = process::read_frame(kChannelFd);
  if (!question) return 1;
  if (!*question) return 0;
  try {
    process::MemoryAllowance memory(memory_bytes);
    const auto done = answer(**question, memory);
    return done || process::write_frame(kChannelFd, to_json(done.error())) ? 0 : 1;
  } catch (const std::bad_alloc&) {
    return process::kExitOutOfMemory;
  }
}

}  // namespace tw::api
