// SPDX-License-Identifier: Apache-2.0
#include "engine/api/import_messages.h"

#include "engine/base/text.h"
#include "engine/measure/message_fields.h"

namespace tw::api {

Json array_header(const std::string& key, const HostArray& array) { return {{"array", key}, {"dtype", array.dtype.name()}, {"shape", array.shape}}; }

Expected<void> add_array(const Json& header, std::vector<std::byte>&& payload, Constants& constants) {
  const auto wrong = [] { return Error(ErrorCode::parse_error, "Expected an array with its type and shape from the process that reads models"); };
  if (!header["array"].is_string() || !header.contains("dtype") || !header["dtype"].is_string() || !header.contains("shape") || !header["shape"].is_array())
    return wrong();
  const auto type = parse_dtype(header["dtype"].get<std::string>());
  if (!type) return wrong();
  HostArray array{*type, {}, std::move(payload)};
  unsigned __int128 bytes = static_cast<unsigned>(type->bytes());
  bool empty = false;
  for (const Json& d : header["shape"]) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) return wrong();
    array.shape.push_back(d.get<int64_t>());
    empty = empty || array.shape.back() == 0;
    if (bytes <= array.data.size()) bytes *= static_cast<uint64_t>(array.shape.back());
  }
  if ((empty ? 0 : bytes) != array.data.size()) return wrong();
  constants[header["array"].get<std::string>()] = std::make_shared<const HostArray>(std::move(array));
  return {};
}

Json to_json(const std::vector<frontends::OpenSize>& sizes) {
  Json list = Json::array();
  for (const frontends::OpenSize& s : sizes)
    list.push_back({{"name", s.name}, {"places", s.places}, {"least", s.least}, {"most", s.most}, {"proposal", s.proposal}, {"required", s.required}});
  return list;
}

Expected<std::vector<frontends::OpenSize>> open_sizes_from_json(const Json& list) {
  std::vector<frontends::OpenSize> sizes;
  for (const Json& one : list) {
    measure::Fields f(one);
    frontends::OpenSize& s = sizes.emplace_back();
    s.name = f.text("name");
    for (const Json& place : f.list("places"))
      if (place.is_string()) s.places.push_back(place.get<std::string>());
    s.least = f.number<int64_t>("least");
    s.most = f.number<int64_t>("most");
    s.proposal = f.number<int64_t>("proposal");
    s.required = f.boolean("required");
    if (f.error()) return *f.error();
  }
  return sizes;
}

Json to_json(const Error& error) {
  return {{"error", error.message}, {"code", std::string(error_code_name(error.code))}, {"where", printable(error.where)}, {"notes", error.notes}};
}

Error error_from_json(const Json& header) {
  const auto text = [&](const char* key) { return header.contains(key) && header[key].is_string() ? header[key].get<std::string>() : std::string(); };
  Error e(error_code_from_name(text("code")), printable(text("error")), printable(text("where")));
  if (header.contains("notes") && header["notes"].is_array())
    for (const Json& n : header["notes"])
      if (n.is_string()) e.notes.push_back(printable(n.get<std::string>()));
  return e;
}

}  // namespace tw::api
