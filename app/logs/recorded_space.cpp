// SPDX-License-Identifier: Apache-2.0
#include "app/logs/recorded_space.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "app/logs/import_log.h"
#include "db/recorded.h"
#include "db/session_workspace.h"
#include "engine/api/claims.h"
#include "engine/base/file.h"
#include "engine/base/hash.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/process/find_program.h"
#include "engine/space/template.h"
#include "engine/te/source.h"
#include "engine/tune/candidate.h"

namespace tw::logs {
namespace {

namespace fs = std::filesystem;
using records::Status;

constexpr const char* kVersionKey = "tilewright_space";
constexpr int kVersion = 1;
/// Of spaces whose kernels are another program's. Nothing is built for it.
constexpr const char* kNoTarget = "llvm -mcpu=x86-64 -num-cores=1";
/// Kernel Tuner's time of a failure, in files from before it named them.
constexpr double kKernelTunerFailure = 1e20;
constexpr size_t kTrialsAtOnce = 2000;
constexpr const char* kBlanks = " \t\r\n";

/// Four digits: more than a repeated measurement agrees in.
double rounded_us(double seconds) {
  const double us = seconds * 1e6, scale = std::pow(10.0, 3 - std::floor(std::log10(us)));
  return std::round(us * scale) / scale;
}

/// What a template's knobs are, in short.
std::string knobs_key(const space::ConfigSpace& space) {
  std::string text;
  for (const space::Knob& k : space.knobs())
    for (const space::KnobValue& v : k.candidates) space::append_knob(text, k.name, k.kind, v);
  return content_key(text).substr(0, 16);
}

std::string hex(uint64_t n) { return fmt::format("{:016x}", n); }

records::Record trial(Status status, double seconds, const std::string& origin) {
  records::Record r;
  r.origin = origin;
  r.result.status = status;
  if (status == Status::ok) {
    r.result.samples_s = {seconds};
    r.result.sample_flags = {false};
    r.result.verified = true;  // by whoever recorded it; in a workspace it is a claim
  } else {
    r.result.message = "It failed when the space was recorded";
  }
  return r;
}

/// A word of a text of ours: letters, digits and underscores, and none of its keywords at the beginning.
std::string identifier(const std::string& name) {
  std::string word;
  for (const char c : name) word += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return word.empty() || std::isdigit(static_cast<unsigned char>(word[0])) != 0 ? "k_" + word : word;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
  return out + '"';
}

/// A value of a knob as a text of ours has it: integers as they are, whatever else as a word.
std::string knob_word(const Json& value) {
  if (value.is_number_integer()) return value.dump();
  if (value.is_boolean()) return value.get<bool>() ? "1" : "0";
  return quoted(printable(value.is_string() ? value.get<std::string>() : dump_json(value)));
}

/// The knobs of another program's kernel, in a text that computes nothing.
struct ForeignKnobs {
  std::vector<std::string> names;  ///< as the file has them
  std::vector<std::vector<Json>> values;

  std::string text(const std::string& comment) const {
    std::string out;
    for (const std::string_view line : split_lines(comment)) out += fmt::format("# {}\n", printable(line));
    out += "A: float32[1] = placeholder()\nB: float32[1] = compute(i)\n    A[i]\noutputs(B)\n\nschedule\n";
    for (size_t k = 0; k < names.size(); ++k) {
      std::vector<std::string> words;
      for (const Json& v : values[k]) words.push_back(knob_word(v));
      out += fmt::format("define_knob({}, [{}])\n", identifier(names[k]), fmt::join(words, ", "));
    }
    return out;
  }
};

/// The task that a text makes, and its space.
Expected<void> resolve(RecordedSpace& r, const std::string& target_text, space::ConfigSpace& space) {
  TW_TRY(te::DagPtr dag, te::parse_dag(r.text));
  TW_TRY(const Target target, parse_target(target_text));
  r.task = records::make_task(identifier(r.name), std::move(dag), target);
  const space::Template* found = space::find_template(*r.task.dag, r.task.target, r.space);
  if (found == nullptr) return Error(ErrorCode::version, fmt::format("Expected a template '{}' of the recorded computation, found none in this program", printable(r.space)));
  space = found->space(*r.task.dag, r.task.target);
  r.size = space.size();
  return {};
}

/// Gives points their choices and, where they mean something, their steps.
Expected<void> complete(RecordedSpace& r, const space::ConfigSpace& space) {
  const space::Template& found = *space::find_template(*r.task.dag, r.task.target, r.space);
  for (records::Record& record : r.records) {
    record.task_key = r.task.key;
    if (record.candidate.index < 0) continue;
    TW_TRY(const space::ConfigEntity point, space.get(record.candidate.index));
    if (r.opaque) {
      record.candidate.space = r.space;
      record.candidate.config = point.json_text();
    } else {
      record.candidate = tune::point_candidate(r.task, found, point).candidate;
    }
  }
  return {};
}

Error not_a_space(const std::string& what, const std::string& file) { return Error(ErrorCode::parse_error, what, file); }

/// The member of a type that `get` takes. Errors: parse_error naming it.
template <class T>
Expected<T> member(const Json& json, const char* key, const std::string& file) {
  try {
    return json.at(key).get<T>();
  } catch (const Json::exception&) {
    return not_a_space(fmt::format("Expected a recorded space with '{}' in its form, found {}", key, json.contains(key) ? "another form of it" : "none"), file);
  }
}

// ---- ours

Expected<RecordedSpace> read_ours(const Json& json, const std::string& file) {
  TW_TRY(const auto version, member<int>(json, kVersionKey, file));
  if (version > kVersion) return Error(ErrorCode::version, fmt::format("Expected a recorded space of version {} at most, found {}", kVersion, version), file);
  RecordedSpace r;
  TW_TRY(r.name, member<std::string>(json, "name", file));
  TW_TRY(r.where, member<std::string>(json, "where", file));
  TW_TRY(r.text, member<std::string>(json, "text", file));
  TW_TRY(r.space, member<std::string>(json, "space", file));
  TW_TRY(r.opaque, member<bool>(json, "opaque", file));
  TW_TRY(const auto target, member<std::string>(json, "target", file));
  TW_TRY(const auto knobs, member<std::string>(json, "knobs", file));
  TW_TRY(const auto us, member<std::vector<double>>(json, "us", file));
  std::vector<int64_t> points;
  if (json.contains("points")) {
    TW_TRY(points, member<std::vector<int64_t>>(json, "points", file));
  } else {
    for (size_t i = 0; i < us.size(); ++i) points.push_back(static_cast<int64_t>(i));
  }
  if (points.size() != us.size()) return not_a_space(fmt::format("Expected as many times as points, found {} and {}", us.size(), points.size()), file);
  space::ConfigSpace space;
  if (auto ok = resolve(r, target, space); !ok) return Error(ok.error().code, ok.error().message, file);
  if (knobs != knobs_key(space))
    return Error(ErrorCode::version, fmt::format("Expected the knobs of '{}' as they were when the space was recorded, found others in this program", printable(r.space)), file);
  std::map<int64_t, Status> failed;
  if (json.contains("failed")) {
    TW_TRY(const auto by_status, (member<std::map<std::string, std::vector<int64_t>>>(json, "failed", file)));
    for (const auto& [name, indices] : by_status)
      for (const int64_t i : indices) failed[i] = records::status_from_name(name);
  }
  for (size_t i = 0; i < points.size(); ++i) {
    if (points[i] < 0 || points[i] >= r.size) return Error(ErrorCode::invalid_argument, fmt::format("Expected points below {}, found {}", r.size, points[i]), file);
    const auto failure = failed.find(points[i]);
    const bool ok = us[i] > 0;
    if (!ok && failure == failed.end()) return not_a_space(fmt::format("Expected a failure for point {} without a time, found none", points[i]), file);
    if (ok && !records::possible_time(us[i] * 1e-6)) return Error(ErrorCode::invalid_argument, fmt::format("Expected times of kernels in microseconds, found {}", us[i]), file);
    records::Record& record = r.records.emplace_back(trial(ok ? Status::ok : failure->second, us[i] * 1e-6, r.name));
    record.candidate.index = points[i];
  }
  TW_CHECK(complete(r, space));
  if (json.contains("default")) {
    const Json& by_default = json["default"];
    TW_TRY(const auto identity, member<std::string>(by_default, "identity", file));
    TW_TRY(const auto default_us, member<double>(by_default, "us", file));
    records::Record record = trial(Status::ok, default_us * 1e-6, r.name);
    record.task_key = r.task.key;
    record.candidate = tune::default_candidate(r.task);
    // Another rule by now would be another schedule, which nobody measured.
    if (hex(records::identity(record.candidate)) == identity && records::possible_time(default_us * 1e-6)) r.records.push_back(std::move(record));
  }
  return r;
}

// ---- a list of knobs with a time for each point

Expected<RecordedSpace> read_plain(const Json& json, const std::string& file) {
  RecordedSpace r;
  r.opaque = true;
  r.space = "own";
  TW_TRY(r.name, member<std::string>(json, "name", file));
  TW_TRY(r.where, member<std::string>(json, "where", file));
  ForeignKnobs knobs;
  for (const Json& knob : json.at("knobs")) {
    TW_TRY(const auto kind, member<std::string>(knob, "kind", file));
    if (kind != "ot") return Error(ErrorCode::unsupported, fmt::format("Expected knobs of kind 'ot', found '{}'", printable(kind)), file);
    TW_TRY(knobs.names.emplace_back(), member<std::string>(knob, "name", file));
    TW_TRY(knobs.values.emplace_back(), member<std::vector<Json>>(knob, "candidates", file));
  }
  r.text = knobs.text(fmt::format("The knobs of {}, recorded on {}; what they did is not known here.", r.name, r.where));
  space::ConfigSpace space;
  TW_CHECK(resolve(r, kNoTarget, space));
  const Json& us = json.at("us");
  if (!us.is_array() || static_cast<int64_t>(us.size()) != r.size) return not_a_space(fmt::format("Expected {} times, one for each point, found {}", r.size, us.size()), file);
  for (int64_t i = 0; i < r.size; ++i) {
    const Json& time = us[static_cast<size_t>(i)];
    if (time.is_null()) continue;  // a filter rejected it
    const double value = time.is_number() ? time.get<double>() : -1;
    if (value < 0) return not_a_space(fmt::format("Expected microseconds, 0 or null for point {}, found {}", i, printable(dump_json(time))), file);
    r.records.push_back(trial(value > 0 ? Status::ok : Status::build_fail, value * 1e-6, r.name));
    r.records.back().candidate.index = i;
  }
  TW_CHECK(complete(r, space));
  return r;
}

// ---- Kernel Tuner

/// A file that is still written to lacks its end, and has a comma after its last entry.
std::string with_its_end(std::string_view text) {
  std::string whole(text.substr(0, text.find_last_not_of(kBlanks) + 1));
  if (whole.ends_with(",")) whole.pop_back();
  int depth = 0;
  bool quote = false;
  for (size_t i = 0; i < whole.size(); ++i) {
    if (quote && whole[i] == '\\') ++i;
    else if (whole[i] == '"') quote = !quote;
    else if (!quote) depth += whole[i] == '{' ? 1 : whole[i] == '}' ? -1 : 0;
  }
  if (!quote && depth > 0 && depth <= 2) whole.append(static_cast<size_t>(depth), '}');
  return whole;
}

Status kernel_tuner_status(const std::string& text) {
  if (text == "CompilationFailedConfig") return Status::build_fail;
  if (text == "RuntimeFailedConfig") return Status::run_crash;
  return Status::lower_fail;  // InvalidConfig: what the device's limits or a restriction forbid
}

double milliseconds_of(const Json& entry, const char* key) {
  const auto at = entry.find(key);
  return at != entry.end() && at->is_number() ? std::max(0.0, at->get<double>()) : 0;
}

Expected<records::Record> kernel_tuner_trial(const Json& entry, const std::string& origin, const std::string& file) {
  const auto time = entry.find("time");
  if (time == entry.end() || !(time->is_number() || time->is_string())) return not_a_space("Expected a time or the name of a failure for every entry of 'cache', found one without", file);
  if (time->is_string()) return trial(kernel_tuner_status(time->get<std::string>()), 0, origin);
  const double ms = time->get<double>();
  if (ms >= kKernelTunerFailure) return trial(Status::run_crash, 0, origin);
  if (!records::possible_time(ms * 1e-3)) return Error(ErrorCode::invalid_argument, fmt::format("Expected times of kernels in milliseconds, found {}", ms), file);
  records::Record r = trial(Status::ok, ms * 1e-3, origin);
  r.result.build_s = milliseconds_of(entry, "compile_time") * 1e-3;
  r.result.run_s = (milliseconds_of(entry, "benchmark_time") + milliseconds_of(entry, "verification_time")) * 1e-3;
  return r;
}

Expected<RecordedSpace> read_kernel_tuner(const Json& json, const std::string& file) {
  RecordedSpace r;
  r.opaque = true;
  r.space = "own";
  TW_TRY(r.name, member<std::string>(json, "kernel_name", file));
  TW_TRY(r.where, member<std::string>(json, "device_name", file));
  ForeignKnobs knobs;
  TW_TRY(knobs.names, member<std::vector<std::string>>(json, "tune_params_keys", file));
  const Json params = json.value("tune_params", Json::object());
  for (const std::string& name : knobs.names) {
    TW_TRY(knobs.values.emplace_back(), member<std::vector<Json>>(params, name.c_str(), file));
  }
  r.text = knobs.text(fmt::format("{}, tuned by Kernel Tuner on {}, problem size {}. Its knobs are known here, its code is not.", r.name, r.where,
                                  json.contains("problem_size") ? dump_json(json["problem_size"]) : "unknown"));
  space::ConfigSpace space;
  TW_CHECK(resolve(r, kNoTarget, space));
  const Json cache = json.value("cache", Json::object());
  if (!cache.is_object()) return not_a_space("Expected 'cache' as an object, found another", file);
  for (const auto& item : cache.items()) {
    std::vector<int> positions;
    for (size_t k = 0; k < knobs.names.size(); ++k) {
      const auto value = item.value().find(knobs.names[k]);
      const auto at = value == item.value().end() ? knobs.values[k].end() : std::find(knobs.values[k].begin(), knobs.values[k].end(), *value);
      if (at == knobs.values[k].end())
        return Error(ErrorCode::invalid_argument, fmt::format("Expected a value of 'tune_params' for '{}' in entry '{}', found {}", printable(knobs.names[k]), printable(item.key()),
                                                              value == item.value().end() ? "none" : printable(dump_json(*value))), file);
      positions.push_back(static_cast<int>(at - knobs.values[k].begin()));
    }
    TW_TRY(r.records.emplace_back(), kernel_tuner_trial(item.value(), r.name, file));
    r.records.back().candidate.index = space.index_of(positions);
  }
  std::sort(r.records.begin(), r.records.end(), [](const auto& a, const auto& b) { return a.candidate.index < b.candidate.index; });
  TW_CHECK(complete(r, space));
  return r;
}

/// What a file of one of the three kinds has among its first bytes.
constexpr const char* kKeys[] = {kVersionKey, "tune_params_keys", "knobs"};

std::string beginning_of(const std::string& file) {
  auto reader = FileReader::open(file);
  std::string bytes(kBeginningBytes, '\0');
  const auto read = reader ? reader->read(bytes) : Expected<size_t>(reader.error());
  bytes.resize(read ? *read : 0);
  return bytes;
}

Expected<fs::path> spaces_folder() {
  TW_TRY(const std::string self, process::own_path());
  return fs::path(self).parent_path().parent_path() / "share" / "tilewright" / "spaces";
}

}  // namespace

std::vector<std::string> bundled_spaces() {
  std::vector<std::string> names;
  const auto folder = spaces_folder();
  std::error_code ec;
  for (fs::directory_iterator at(folder ? *folder : fs::path(), ec), end; !ec && at != end; at.increment(ec))
    if (at->path().extension() == kSpaceFile) names.push_back(at->path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

Expected<std::string> space_file(const std::string& given) {
  if (!given.starts_with(kSpaceByName)) return given;
  TW_TRY(const fs::path folder, spaces_folder());
  const std::string name = given.substr(kSpaceByName.size());
  const std::vector<std::string> all = bundled_spaces();
  if (all.empty()) return Error(ErrorCode::not_found, fmt::format("Expected the recorded spaces that come with the program in '{}', found none", printable(folder.string())));
  if (std::find(all.begin(), all.end(), name) == all.end())
    return Error(ErrorCode::not_found, fmt::format("Expected a recorded space that comes with the program, one of {}, found '{}'", fmt::join(all, ", "), printable(name)));
  return (folder / (name + kSpaceFile)).string();
}

bool is_recorded_space(const std::string& file) {
  const std::string beginning = beginning_of(file);
  const std::string_view text = beginning;
  const size_t first = text.find_first_not_of(kBlanks);
  return first != std::string_view::npos && text[first] == '{' && std::any_of(std::begin(kKeys), std::end(kKeys), [&](const char* key) { return text.find(fmt::format("\"{}\"", key)) != std::string_view::npos; });
}

Expected<RecordedSpace> read_recorded_space(const std::string& file) {
  TW_TRY(const std::string text, read_file(file));
  const bool foreign = text.find("\"tune_params_keys\"") != std::string::npos;
  TW_TRY(const Json json, parse_json(foreign ? with_its_end(text) : text, file));
  if (json.is_object() && json.contains(kVersionKey)) return read_ours(json, file);
  if (json.is_object() && json.contains("tune_params_keys")) return read_kernel_tuner(json, file);
  if (json.is_object() && json.contains("knobs") && json.contains("us") && json["knobs"].is_array()) return read_plain(json, file);
  return not_a_space("Expected a recorded space or a cache file of Kernel Tuner, found another document", file);
}

Expected<std::string> recorded_space_text(db::Database& db, const db::TaskRow& row, const std::string& space, const std::string& name) {
  TW_TRY(const records::Task task, db::task_of(row));
  const space::Template* found = space::find_template(*task.dag, task.target, space);
  if (found == nullptr) return Error(ErrorCode::not_found, fmt::format("Expected a template of task '{}', found '{}'", printable(row.name), printable(space)));
  const space::ConfigSpace points = found->space(*task.dag, task.target);
  TW_TRY(const auto sessions, db.sessions());
  std::map<SessionId, const db::SessionRow*> by_id;
  for (const db::SessionRow& s : sessions) by_id[s.id] = &s;
  TW_TRY(const auto rows, db.trials(std::nullopt, row.id, {}, -1, true));
  std::map<int64_t, const records::Record*> newest;
  const records::Record* by_default = nullptr;
  const db::SessionRow* session = nullptr;
  for (const db::TrialRow& t : rows) {
    const auto of = by_id.find(t.session);
    if (of == by_id.end() || of->second->kind == db::TimeKind::replayed) continue;
    const records::Record& r = t.record;
    if (!r.result.ok() && !records::blames_candidate(r.result.status)) continue;
    if (r.candidate.is_default() && r.result.ok()) by_default = &r;
    if (r.candidate.space != space || r.candidate.index < 0 || r.candidate.index >= points.size()) continue;
    newest[r.candidate.index] = &r;
    session = of->second;
  }
  if (newest.empty()) return Error(ErrorCode::not_found, fmt::format("Expected trials of task '{}' in space '{}', found none", printable(row.name), printable(space)));
  Json us = Json::array(), indices = Json::array();
  std::map<std::string, std::vector<int64_t>> failed;
  for (const auto& [index, record] : newest) {
    const bool ok = record->result.ok();
    indices.push_back(index);
    us.push_back(ok ? rounded_us(record->result.seconds()) : 0);
    if (!ok) failed[records::status_name(record->result.status)].push_back(index);
  }
  const std::string device = session->options.value("device", std::string());
  const std::string cpu = session->host.is_object() ? session->host.value("cpu", std::string()) : std::string();
  Json json;
  json[kVersionKey] = kVersion;
  json["name"] = name;
  json["where"] = device.starts_with("sim:") ? fmt::format("{}, a formula", device) : cpu.empty() ? row.target : cpu;
  json["target"] = row.target;
  json["opaque"] = false;
  json["text"] = row.dag_text;
  json["space"] = space;
  json["knobs"] = knobs_key(points);
  if (by_default != nullptr) json["default"] = {{"identity", hex(records::identity(by_default->candidate))}, {"us", rounded_us(by_default->result.seconds())}};
  if (static_cast<int64_t>(newest.size()) != points.size()) json["points"] = indices;
  if (!failed.empty()) json["failed"] = failed;
  json["us"] = us;
  return dump_json(json) + "\n";
}

Expected<EnteredSpace> enter_recorded_space(db::Database& db, const RecordedSpace& space, const Json& host, const StopToken& stop) {
  EnteredSpace entered;
  TW_TRY(const TaskId task, db.put_task(space.task));
  TW_TRY(entered.model, db.put_model(space.task.name, space.task.name + ".te", content_key(space.text), Json{{"name", space.task.name}, {"text", space.text}}));
  TW_CHECK(db.link_task(entered.model, task, 1, records::Weights::unknown));
  api::ClaimChecker claims;
  std::vector<records::Record> fresh;
  for (records::Record r : space.records) {
    // What another program's kernel can reach, its knobs do not say.
    r.result = space.opaque ? api::as_claim(std::move(r.result)) : claims.as_claim(space.task, std::move(r.result));
    r.claimed = true;
    fresh.push_back(std::move(r));
  }
  for (size_t begin = 0; begin < fresh.size(); begin += kTrialsAtOnce) {
    if (stop.stop_requested()) return Error(ErrorCode::cancelled, "Cancelled");
    std::vector<records::Record> batch(fresh.begin() + static_cast<std::ptrdiff_t>(begin), fresh.begin() + static_cast<std::ptrdiff_t>(std::min(begin + kTrialsAtOnce, fresh.size())));
    TW_TRY(const std::vector<bool> there, db.are_stored(task, batch));
    size_t at = 0;
    std::erase_if(batch, [&](const records::Record&) { return there[at++]; });
    if (batch.empty()) continue;
    if (!entered.session) {
      TW_TRY(entered.session, db.begin_session(entered.model, db::kImported, space.task.target.str(), Json{{"space", space.space}, {"recorded_space", space.name}, {"where", space.where}}, host));
    }
    TW_CHECK(db.put_trials(entered.session, task, batch));
    entered.stored += static_cast<int64_t>(batch.size());
    for (const records::Record& r : batch) entered.failures += r.result.ok() ? 0 : 1;
  }
  if (entered.session) TW_CHECK(db.end_session(entered.session, "done"));
  return entered;
}

Expected<std::shared_ptr<const records::RecordedTrials>> trials_in_file(db::Database& db, const std::string& given, const std::vector<records::Task>& tasks, const StopToken& stop) {
  TW_TRY(const std::string file, space_file(given));
  std::vector<std::string> keys;
  for (const records::Task& t : tasks) keys.push_back(t.key);
  auto trials = std::make_shared<records::RecordedTrials>();
  const auto is_one = [&](const std::string& key) { return std::find(keys.begin(), keys.end(), key) != keys.end(); };
  if (file == db.path()) {
    TW_TRY(trials, db::recorded_trials(db, keys));
  } else if (is_recorded_space(file)) {
    TW_TRY(RecordedSpace space, read_recorded_space(file));
    if (is_one(space.task.key))
      for (records::Record& r : space.records) trials->add(std::move(r));
  } else if (beginning_of(file).starts_with("SQLite format 3")) {
    TW_TRY(const auto other, db::Database::open(file, db::Mode::read_only));
    TW_TRY(trials, db::recorded_trials(*other, keys));
  } else {
    const ImportOptions options{.target = tasks.empty() ? nullptr : &tasks.front().target, .foreign = false};
    TW_TRY(Log log, read_log(db, file, options, stop));
    for (LoggedTask& t : log.tasks)
      if (is_one(t.task.key))
        for (records::Record& r : t.records) {
          r.task_key = t.task.key;
          trials->add(std::move(r));
        }
  }
  if (trials->size() == 0) return Error(ErrorCode::not_found, fmt::format("Expected trials of the chosen tasks in '{}', found none", printable(given)));
  return std::shared_ptr<const records::RecordedTrials>(std::move(trials));
}

}  // namespace tw::logs
