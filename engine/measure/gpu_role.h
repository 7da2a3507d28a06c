// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tw::measure {

/// The worker that measures on GPUs: it owns the context of the one that the first question names, for as long as that works, and ends after an error that
/// corrupts it. It answers one question after the other; whoever asks watches the clock and kills it, since nothing else ends a kernel that never does.
/// For each candidate it says `started` when its turn has come, `running` before the first launch, and then gives its reply, with `lost` if it ends.
int gpu_role();

}  // namespace tw::measure
