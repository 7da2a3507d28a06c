// SPDX-License-Identifier: Apache-2.0
#include "engine/api/import_messages.h"

#include "engine/base/text.h"
#include "engine/graph/derived_constants.h"
#include "engine/measure/message_fields.h"

namespace tw::api {

Json array_header(const std::string& key, const HostArray& array, const process::SharedMemory* shared) {
  Json header = {{"array", key}, {"dtype", array.dtype.name()}, {"shape", array.shape}};
  if (const graph::Derivation* d = graph::derivation_of(array)) {
    Json of = Json::array();
    for (const HostArray& a : d->of) of.push_back(graph::constant_key(a));
    header["derived"] = {{"how", d->kind == graph::Derivation::Kind::transposed ? "transposed" : "joined"}, {"of", of}, {"numbers", d->numbers}};
  } else if (const int64_t place = shared != nullptr && array.data.keeper() != nullptr ? shared->place_of(array.data.data()) : -1; place >= 0) {
    header["place"] = place;
    header["digest"] = array.data.digest();
  }
  return header;
}

bool has_payload(const Json& header) { return !header.contains("place") && !header.contains("derived"); }

namespace {

Expected<HostArray> derived_array(const Json& how, const Constants& constants) {
  const auto wrong = [] { return Error(ErrorCode::parse_error, "Expected an array that follows from others that were sent before, from the process that reads models"); };
  measure::Fields f(how);
  graph::Derivation d{f.text("how") == "joined" ? graph::Derivation::Kind::joined : graph::Derivation::Kind::transposed, {}, {}};
  for (const Json& n : f.list("numbers"))
    if (n.is_number_integer()) d.numbers.push_back(n.get<int64_t>());
  for (const Json& key : f.list("of")) {
    const auto it = key.is_string() ? constants.find(key.get<std::string>()) : constants.end();
    if (it == constants.end()) return wrong();
    d.of.push_back(*it->second);
  }
  if (f.error()) return *f.error();
  auto array = graph::derived(d);
  if (!array) return wrong();
  return std::move(*array);
}

}  // namespace

Expected<void> add_array(const Json& header, std::vector<std::byte>&& payload, const process::SharedMemory* shared, Constants& constants) {
  const auto wrong = [] { return Error(ErrorCode::parse_error, "Expected an array with its type and shape from the process that reads models"); };
  if (!header["array"].is_string() || !header.contains("dtype") || !header["dtype"].is_string() || !header.contains("shape") || !header["shape"].is_array())
    return wrong();
  const auto type = parse_dtype(header["dtype"].get<std::string>());
  if (!type) return wrong();
  HostArray array{*type, {}, std::move(payload)};
  if (header.contains("derived")) {
    TW_TRY(const HostArray made, derived_array(header["derived"], constants));
    array.data = made.data;
  }
  const bool placed = header.contains("place");
  unsigned __int128 bytes = static_cast<unsigned>(type->bytes());
  bool empty = false;
  for (const Json& d : header["shape"]) {
    if (!d.is_number_integer() || d.get<int64_t>() < 0) return wrong();
    array.shape.push_back(d.get<int64_t>());
    empty = empty || array.shape.back() == 0;
    if (bytes <= static_cast<uint64_t>(INT64_MAX)) bytes *= static_cast<uint64_t>(array.shape.back());
  }
  if (placed) {
    if (shared == nullptr || !header["place"].is_number_integer() || !header.contains("digest") || !header["digest"].is_string() || empty || bytes > static_cast<uint64_t>(INT64_MAX)) return wrong();
    TW_TRY(process::SharedMemory::Part part, shared->part(header["place"].get<int64_t>(), static_cast<int64_t>(bytes)));
    array.data = ArrayBytes::kept(part.bytes, std::move(part.keeper), header["digest"].get<std::string>());
  }
  if ((empty ? 0 : bytes) != array.data.size()) return wrong();
  constants[header["array"].get<std::string>()] = std::make_shared<const HostArray>(std::move(array));
  return {};
}

Json to_json(const std::vector<frontends::OpenSize>& sizes) {
  Json list = Json::array();
  for (const frontends::OpenSize& s : sizes)
    list.push_back({{"name", s.name}, {"places", s.places}, {"least", s.least}, {"most", s.most}, {"proposal", s.proposal}, {"required", s.required}, {"is_input", s.is_input}});
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
    s.is_input = f.boolean("is_input");
    if (f.error()) return *f.error();
  }
  return sizes;
}

Json reading_to_json(const Network& network) {
  Json reading = Json::array(), passes = Json::array();
  for (const frontends::OperatorReading& r : network.reading)
    reading.push_back({{"name", r.name}, {"uses", r.uses}, {"computed", r.computed}, {"left_out", r.left_out}, {"expanded", r.expanded}, {"operators", r.operators}});
  for (const PassEffect& p : network.passes) passes.push_back({{"name", p.name}, {"before", p.before}, {"after", p.after}});
  return {{"reading", reading}, {"passes", passes}};
}

Expected<void> reading_from_json(const Json& json, Network& network) {
  measure::Fields parts(json);
  for (const Json& one : parts.list("reading")) {
    measure::Fields f(one);
    network.reading.push_back({printable(f.text("name")), f.number<int64_t>("uses"), f.number<int64_t>("computed"), f.number<int64_t>("left_out"),
                               f.number<int64_t>("expanded"), f.number<int64_t>("operators")});
    if (f.error()) return *f.error();
  }
  for (const Json& one : parts.list("passes")) {
    measure::Fields f(one);
    network.passes.push_back({printable(f.text("name")), f.number<int64_t>("before"), f.number<int64_t>("after")});
    if (f.error()) return *f.error();
  }
  if (parts.error()) return *parts.error();
  return {};
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
