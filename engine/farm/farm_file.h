// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "engine/farm/nats_client.h"

namespace tw::farm {

/// How to reach a farm, as an agent or as a session.
struct Access {
  std::string farm;
  std::string address = "127.0.0.1";
  int port = 0;
  std::string kind;  ///< of the devices that it is for; empty: it is a session's
  std::string user, password;
  std::string fingerprint;  ///< of the server's certificate; empty: connections are not encrypted

  Endpoint endpoint(const std::string& name) const;
};

/// The one line that an agent needs. It holds a password. Lines with a fingerprint begin in another way, so that agents who know nothing of encryption refuse them
/// instead of sending the password as it is.
std::string line_of(const Access& access);
/// Errors: parse_error.
Expected<Access> access_from_line(const std::string& line);

/// A farm as this machine keeps it: a folder with its keys, its server's configuration and what the server stores; readable by its user only.
struct FarmFile {
  std::string farm, folder;
  std::string address = "127.0.0.1";
  int port = 0;
  std::string session_password;
  std::string fingerprint;  ///< as in Access
  struct Kind {
    std::string name, password;
  };
  std::vector<Kind> kinds;

  Access session() const;
  /// Errors: not_found.
  Expected<Access> agent(const std::string& kind) const;
};
inline constexpr const char* kDefaultFarm = "default";
/// $XDG_DATA_HOME/tilewright/farms/NAME or the same below ~/.local/share; $TW_FARMS in place of the folder above NAME. Errors: invalid_argument for bad names.
Expected<std::string> farm_folder(const std::string& farm);
/// Errors: not_found if there is no such farm; parse_error.
Expected<FarmFile> read_farm(const std::string& farm);
/// All farms of this machine, by name; those whose file says nothing are left out.
std::vector<FarmFile> known_farms();
/// Makes its folder, which nobody else can read. Errors: those of the folder.
Expected<void> make_farm_folder(const FarmFile& file);
/// The same, and writes its file. Errors: those of writing.
Expected<void> write_farm(const FarmFile& file);

/// The parts of a device's name such as `farm:rpi4` or `farm:rpi4@lab`, with a priority behind a slash: `farm:rpi4/0`.
struct DeviceName {
  std::string kind, farm = kDefaultFarm;
  int priority = 1;
};
inline constexpr std::string_view kFarmPrefix = "farm:";
bool is_farm_device(std::string_view device);
/// Errors: invalid_argument.
Expected<DeviceName> parse_device_name(std::string_view device);

}  // namespace tw::farm
