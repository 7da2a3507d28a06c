// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "engine/farm/farm_file.h"

/// The farm's server: nats-server as Debian has it, with a configuration of ours. It listens on this machine only, as its connections are not encrypted: devices
/// elsewhere come through a tunnel, which also says who is who.
namespace tw::farm {

/// The configuration that goes with a farm: who may read and write which subjects. An agent of a kind may take jobs of its kind, fetch code and send results of
/// its kind, and nothing else.
std::string server_configuration(const FarmFile& farm);

/// Makes a farm or opens the one of the name, with this kind of devices in it, and sees to it that its server runs. `port`: 0 for a free one.
/// Errors: not_found without nats-server; infrastructure if it does not come up; those of the folder.
Expected<FarmFile> farm_up(const std::string& name, const std::string& kind, int port);
/// Stops the server; what is stored stays. Errors: not_found if none runs.
Expected<void> farm_down(const FarmFile& farm);
/// Errors: not_found, naming the package.
Expected<std::string> find_nats_server();
std::string server_log(const FarmFile& farm);

}  // namespace tw::farm
