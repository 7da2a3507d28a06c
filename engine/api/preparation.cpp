// SPDX-License-Identifier: Apache-2.0
#include "engine/api/preparation.h"

namespace tw::api {

const ParamSchema& preparation_schema() {
  static const ParamSchema schema = {choice_param(
      "layout", "nchw", "where images have their channels: nchw, as in the model, or nhwc, last, as in the tasks that Ansor's published records are of", {"nchw", "nhwc"})};
  return schema;
}

Expected<graph::PassHooks> passes_for(const Json& choices) {
  TW_TRY(const Json resolved, resolve_params(preparation_schema(), choices));
  graph::PassHooks hooks;
  if (resolved["layout"] == "nhwc") hooks.enabled.emplace_back("channels_last");
  return hooks;
}

}  // namespace tw::api
