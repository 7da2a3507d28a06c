// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/farm/farm_file.h"

/// The farm's server: nats-server as Debian has it, with a configuration of ours. What leaves this machine is encrypted: on any address but the loopback one it
/// has a certificate of its own, whose fingerprint is in the lines of agents, and it opens no port besides.
namespace tw::farm {

/// The configuration that goes with a farm: who may read and write which subjects. An agent of a kind may take jobs of its kind, fetch code and send results of
/// its kind, and nothing else.
std::string server_configuration(const FarmFile& farm);

/// Where a farm's server listens.
struct Listening {
  std::string address;     ///< one of this machine's; empty: where it did before, or the loopback address
  int port = 0;            ///< of a new farm; 0: a free one
  bool encrypted = false;  ///< on the loopback address, too
};
/// Makes a farm or opens the one of the name, with this kind of devices in it, and sees to it that its server runs.
/// Errors: not_found without nats-server; invalid_argument for an address that is none of this machine's, and for another one while the server runs;
/// infrastructure if it does not come up; those of the folder.
Expected<FarmFile> farm_up(const std::string& name, const std::string& kind, const Listening& listening = {});
/// Whether it is an address that no other machine reaches.
bool is_loopback(const std::string& address);
/// Stops the server; what is stored stays. Errors: not_found if none runs.
Expected<void> farm_down(const FarmFile& farm);
/// Errors: not_found, naming the package.
Expected<std::string> find_nats_server();
std::string server_log(const FarmFile& farm);

}  // namespace tw::farm
