// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::process {

/// From now on this process and its threads may read files and use what they have open, and change nothing else: no file is opened for writing, made, renamed or removed, no program
/// is started, no connection made. For code of a stranger's that is interpreted here. Returns whether the system does it; it does for good. Source: seccomp(2).
bool become_read_only();

}  // namespace tw::process
