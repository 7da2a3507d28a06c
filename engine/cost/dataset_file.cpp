// SPDX-License-Identifier: Apache-2.0
#include "engine/cost/dataset_file.h"

#include <fmt/format.h>

#include <cstring>

#include "engine/base/hash.h"

namespace tw::cost {
namespace {

constexpr const char* kDatasetFormat = "tilewright cost dataset";
constexpr int kDatasetFormatVersion = 1;

bool begins_like_a_dataset(std::string_view beginning) { return beginning.starts_with(fmt::format(R"({{"format":"{}",)", kDatasetFormat)); }

/// What stands before a sample's rows.
struct SampleHead {
  uint64_t rows;
  double speed;
};

void append(std::string& out, const void* bytes, size_t count) { out.append(static_cast<const char*>(bytes), count); }

}  // namespace

const FileKind kDatasetFile{"a dataset of cost models", begins_like_a_dataset};

Json describe(const DatasetFile& f) {
  Json tasks = Json::array();
  for (const Dataset::Task& t : f.data.tasks()) {
    const auto name = f.names.find(t.key);
    int64_t failed = 0;
    for (const Dataset::Sample& s : t.samples) failed += s.speed <= 0;
    tasks.push_back({{"key", t.key}, {"name", name == f.names.end() ? "" : name->second}, {"samples", t.samples.size()}, {"failed", failed}, {"fastest_s", t.fastest > 0 ? Json(1 / t.fastest) : Json()}});
  }
  size_t columns = 0;
  for (const Dataset::Task& t : f.data.tasks())
    for (const Dataset::Sample& s : t.samples) columns = std::max(columns, s.rows.columns());
  Json networks = Json::array();
  for (const DatasetFile::Network& n : f.networks) networks.push_back({{"name", n.name}, {"weights", n.weights}});
  return {{"networks", networks}, {"target", f.target}, {"times", f.times}, {"feature", f.feature->name}, {"feature_version", f.feature->version}, {"columns", columns}, {"samples", f.data.size()}, {"tasks", tasks}};
}

Expected<void> save_dataset(const DatasetFile& f, const std::string& path) {
  std::string body;
  for (const Dataset::Task& t : f.data.tasks())
    for (const Dataset::Sample& s : t.samples) {
      const SampleHead head{s.rows.count, s.speed};
      append(body, &head, sizeof head);
      const uint64_t numbers = s.rows.values.size();
      append(body, &numbers, sizeof numbers);
      append(body, s.rows.values.data(), numbers * sizeof(float));
    }
  Json head = {{"format", kDatasetFormat}, {"version", kDatasetFormatVersion}};
  head.update(describe(f));
  head["bytes"] = content_key(body);
  const std::string line = dump_json(head) + "\n";
  const std::string_view parts[] = {line, body};
  return write_file(path, kDatasetFile, parts);
}

Expected<DatasetFile> load_dataset(const std::string& path) {
  TW_TRY(const std::string bytes, read_file(path));
  const size_t end = std::min(bytes.find('\n'), bytes.size());
  const auto head = parse_json(bytes.substr(0, end), path);
  if (!head || !head->is_object() || head->value("format", Json()) != kDatasetFormat)
    return Error(ErrorCode::parse_error, "Expected a dataset of cost models, found another file", path);
  const Error broken(ErrorCode::corrupt, "Expected the rows that the dataset counts, found others", path);
  try {
    if (const int version = head->at("version").get<int>(); version > kDatasetFormatVersion)
      return Error(ErrorCode::version, fmt::format("Expected a dataset of format {} at most, found format {}", kDatasetFormatVersion, version), path);
    DatasetFile out;
    const auto feature = head->at("feature").get<std::string>();
    out.feature = find_feature(feature);
    if (out.feature == nullptr) return Error(ErrorCode::not_found, fmt::format("Expected known features, found '{}'", feature), path);
    if (const int version = head->at("feature_version").get<int>(); version != out.feature->version)
      return Error(ErrorCode::version, fmt::format("Expected version {} of the features '{}', found version {}: `tw dataset featurise` makes them anew", out.feature->version, feature, version), path);
    out.target = head->at("target").get<std::string>();
    out.times = head->at("times").get<std::string>();
    for (const Json& n : head->value("networks", Json::array())) out.networks.push_back({n.at("name").get<std::string>(), n.at("weights").get<std::map<std::string, int>>()});
    std::string_view body = std::string_view(bytes).substr(std::min(end + 1, bytes.size()));
    if (content_key(body) != head->at("bytes").get<std::string>()) return Error(ErrorCode::corrupt, "Expected the bytes that were saved, found others", path);
    const auto take = [&](void* to, size_t count) {
      if (count > body.size()) return false;
      std::memcpy(to, body.data(), count);
      body.remove_prefix(count);
      return true;
    };
    for (const Json& task : head->at("tasks")) {
      const auto key = task.at("key").get<std::string>();
      out.names[key] = task.at("name").get<std::string>();
      for (auto left = task.at("samples").get<size_t>(); left > 0; --left) {
        SampleHead sample{};
        uint64_t numbers = 0;
        if (!take(&sample, sizeof sample) || !take(&numbers, sizeof numbers)) return broken;
        if (numbers > body.size() / sizeof(float) || sample.rows == 0 || numbers % sample.rows != 0) return broken;
        FeatureRows rows{std::vector<float>(numbers), sample.rows};
        take(rows.values.data(), numbers * sizeof(float));
        out.data.add(key, std::move(rows), sample.speed);
      }
    }
    return out;
  } catch (const Json::exception& e) {
    return Error(ErrorCode::parse_error, fmt::format("Expected a dataset's description, found another: {}", e.what()), path);
  }
}

}  // namespace tw::cost
