// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/farm_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "engine/base/base64.h"
#include "engine/base/file.h"
#include "engine/base/json.h"
#include "engine/base/text.h"
#include "engine/farm/names.h"
#include "engine/measure/message_fields.h"

namespace tw::farm {

namespace {

constexpr std::string_view kPlainStart = "twfarm1.", kEncryptedStart = "twfarm2.";
constexpr size_t kLongestLine = 4096;
constexpr const char* kFileName = "farm.json";

bool is_farm_file(std::string_view beginning) { return beginning.starts_with("{\"tilewright_farm\""); }
constexpr FileKind kFarmFile{"a farm's file", &is_farm_file};

bool is_fingerprint(const std::string& text) { return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos; }

Expected<int> port_of(measure::Fields& f) {
  const int port = f.number<int>("port");
  if (f.error()) return *f.error();
  if (port < 1 || port > 65535) return Error(ErrorCode::parse_error, fmt::format("Expected a port from 1 to 65535, found {}", port));
  return port;
}

}  // namespace

Endpoint Access::endpoint(const std::string& name) const {
  return {address, port, user, password, fingerprint, kind.empty() ? "_IN.=" : "_IN." + kind, name};
}

std::string line_of(const Access& a) {
  Json json{{"farm", a.farm}, {"address", a.address}, {"port", a.port}, {"kind", a.kind}, {"user", a.user}, {"password", a.password}};
  if (!a.fingerprint.empty()) json["fingerprint"] = a.fingerprint;
  return std::string(a.fingerprint.empty() ? kPlainStart : kEncryptedStart) + to_base64url(dump_json(json));
}

Expected<Access> access_from_line(const std::string& line) {
  const auto bad = [](const std::string& what) {
    return Error(ErrorCode::parse_error, "Expected the line that `tw farm up` prints, beginning with 'twfarm1.' or 'twfarm2.', found " + what);
  };
  std::string_view text = line;
  text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  const bool encrypted = text.starts_with(kEncryptedStart);
  if ((!encrypted && !text.starts_with(kPlainStart)) || text.size() > kLongestLine) return bad("something else");
  const auto decoded = from_base64(text.substr(kPlainStart.size()));
  if (!decoded) return bad("a damaged one");
  const auto json = parse_json(*decoded);
  if (!json || !json->is_object()) return bad("a damaged one");
  measure::Fields f(*json);
  Access a;
  a.farm = f.text("farm");
  a.address = f.text("address");
  a.kind = f.text("kind");
  a.user = f.text("user");
  a.password = f.text("password");
  if (encrypted) a.fingerprint = f.text("fingerprint");
  if (f.error()) return bad("one without some of its parts");
  if (encrypted != json->contains("fingerprint") || (encrypted && !is_fingerprint(a.fingerprint))) return bad("a damaged one");
  TW_TRY(a.port, port_of(f));
  TW_CHECK(check_name(a.farm, "a farm's name"));
  TW_CHECK(check_name(a.kind, "a kind of devices"));
  return a;
}

Access FarmFile::session() const { return {farm, address, port, "", "session", session_password, fingerprint}; }

Expected<Access> FarmFile::agent(const std::string& kind) const {
  for (const Kind& k : kinds)
    if (k.name == kind) return Access{farm, address, port, kind, "agent-" + kind, k.password, fingerprint};
  return Error(ErrorCode::not_found, fmt::format("Expected a kind of devices of the farm '{}', found '{}'; `tw farm line --kind` adds one", farm, printable(kind)));
}

Expected<std::string> farm_folder(const std::string& farm) {
  TW_CHECK(check_name(farm, "a farm's name"));
  if (const char* all = std::getenv("TW_FARMS"); all != nullptr && *all != 0) return (std::filesystem::path(all) / farm).string();
  const char* data = std::getenv("XDG_DATA_HOME");
  const char* home = std::getenv("HOME");
  const std::filesystem::path base =
      data != nullptr && *data != 0 ? std::filesystem::path(data) : std::filesystem::path(home != nullptr ? home : ".") / ".local" / "share";
  return (base / "tilewright" / "farms" / farm).string();
}

Expected<FarmFile> read_farm(const std::string& farm) {
  FarmFile file;
  file.farm = farm;
  TW_TRY(file.folder, farm_folder(farm));
  const std::string path = (std::filesystem::path(file.folder) / kFileName).string();
  auto text = read_file(path);
  if (!text && text.error().code == ErrorCode::not_found)
    return Error(ErrorCode::not_found, fmt::format("Expected the farm '{}' at '{}', found none; `tw farm up` makes one", farm, printable(file.folder)));
  if (!text) return text.error();
  TW_TRY(const Json json, parse_json(*text, path));
  if (!json.is_object()) return Error(ErrorCode::parse_error, "Expected a farm's file, found something else", path);
  measure::Fields f(json);
  file.address = f.text("address");
  file.session_password = f.text("session_password");
  if (json.contains("fingerprint")) file.fingerprint = f.text("fingerprint");
  if (!file.fingerprint.empty() && !is_fingerprint(file.fingerprint)) f.fail("fingerprint", "64 hexadecimal digits");
  TW_TRY(file.port, port_of(f));
  for (const Json& k : f.list("kinds")) {
    measure::Fields one(k);
    FarmFile::Kind kind{one.text("name"), one.text("password")};
    if (one.error()) return Error(one.error()->code, one.error()->message, path);
    TW_CHECK(check_name(kind.name, "a kind of devices"));
    file.kinds.push_back(std::move(kind));
  }
  if (f.error()) return Error(f.error()->code, f.error()->message, path);
  return file;
}

std::vector<FarmFile> known_farms() {
  std::vector<FarmFile> farms;
  const auto usual = farm_folder(kDefaultFarm);
  std::error_code error;
  for (std::filesystem::directory_iterator at(usual ? std::filesystem::path(*usual).parent_path() : std::filesystem::path(), error), end; !error && at != end; at.increment(error))
    if (auto farm = read_farm(at->path().filename().string())) farms.push_back(*std::move(farm));
  std::sort(farms.begin(), farms.end(), [](const FarmFile& a, const FarmFile& b) { return a.farm < b.farm; });
  return farms;
}

Expected<void> make_farm_folder(const FarmFile& file) {
  std::error_code error;
  std::filesystem::create_directories(file.folder, error);
  if (error || ::chmod(file.folder.c_str(), 0700) != 0) return system_error("Making the farm's folder", file.folder);
  return {};
}

Expected<void> write_farm(const FarmFile& file) {
  TW_CHECK(make_farm_folder(file));
  Json kinds = Json::array();
  for (const FarmFile::Kind& k : file.kinds) kinds.push_back({{"name", k.name}, {"password", k.password}});
  Json json{{"tilewright_farm", 1}, {"address", file.address}, {"port", file.port}, {"session_password", file.session_password}, {"kinds", kinds}};
  if (!file.fingerprint.empty()) json["fingerprint"] = file.fingerprint;
  const std::string path = (std::filesystem::path(file.folder) / kFileName).string();
  const mode_t before = ::umask(0077);
  const auto written = write_file(path, kFarmFile, dump_json(json) + "\n");
  ::umask(before);
  return written;
}

bool is_farm_device(std::string_view device) { return device.starts_with(kFarmPrefix); }

Expected<DeviceName> parse_device_name(std::string_view device) {
  DeviceName out;
  std::string_view rest = device.substr(std::min(kFarmPrefix.size(), device.size()));
  if (const size_t slash = rest.find('/'); slash != std::string_view::npos) {
    const std::string_view priority = rest.substr(slash + 1);
    if (priority.size() != 1 || priority[0] < '0' || priority[0] >= '0' + kPriorities)
      return Error(ErrorCode::invalid_argument, fmt::format("Expected a priority from 0 to {} after '/', found '{}'", kPriorities - 1, printable(priority)), "device");
    out.priority = priority[0] - '0';
    rest = rest.substr(0, slash);
  }
  if (const size_t at = rest.find('@'); at != std::string_view::npos) {
    out.farm = std::string(rest.substr(at + 1));
    rest = rest.substr(0, at);
  }
  out.kind = std::string(rest);
  TW_CHECK(check_name(out.kind, "a kind of devices after 'farm:'"));
  TW_CHECK(check_name(out.farm, "a farm's name after '@'"));
  return out;
}

}  // namespace tw::farm
