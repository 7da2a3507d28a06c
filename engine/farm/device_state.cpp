// SPDX-License-Identifier: Apache-2.0
#include "engine/farm/device_state.h"

#include <sys/statvfs.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "engine/base/file.h"
#include "engine/base/json.h"

namespace tw::farm {

namespace fs = std::filesystem;

namespace {

constexpr const char* kStateName = "state.json";

bool is_device_state(std::string_view beginning) { return beginning.starts_with("{\"tilewright_device\""); }
constexpr FileKind kDeviceState{"a device's state", &is_device_state};

double number_in_file(const fs::path& path) {
  std::ifstream in(path);
  double value = 0;
  return in >> value ? value : 0;
}

}  // namespace

DeviceState read_device_state(const std::string& folder) {
  DeviceState state;
  const auto text = read_file((fs::path(folder) / kStateName).string());
  const auto json = text ? parse_json(*text) : Expected<Json>(text.error());
  if (json && json->is_object() && json->contains("quarantine") && (*json)["quarantine"].is_string()) state.quarantine = (*json)["quarantine"].get<std::string>();
  return state;
}

Expected<void> write_device_state(const std::string& folder, const DeviceState& state) {
  return write_file((fs::path(folder) / kStateName).string(), kDeviceState, dump_json(Json{{"tilewright_device", 1}, {"quarantine", state.quarantine}}) + "\n");
}

double machine_temperature_c() {
  double hottest = 0;
  std::error_code error;
  for (const auto& zone : fs::directory_iterator("/sys/class/thermal", error))
    if (zone.path().filename().string().starts_with("thermal_zone")) hottest = std::max(hottest, number_in_file(zone.path() / "temp") / 1000);
  return hottest;
}

double machine_clock_hz() { return number_in_file("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq") * 1000; }

int64_t free_bytes_of(const std::string& folder) {
  struct statvfs s {};
  return ::statvfs(folder.c_str(), &s) == 0 ? static_cast<int64_t>(s.f_bavail) * static_cast<int64_t>(s.f_frsize) : 0;
}

}  // namespace tw::farm
