// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/process/frame.h"

namespace tw::learner {

/// Answers a question about a TorchScript file (messages.h). Errors: io_error where nobody listens any more; what is wrong with the file.
Expected<void> answer_script(const process::Frame& question);

}  // namespace tw::learner
