// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "engine/base/file.h"
#include "engine/base/text.h"
#include "engine/frontends/zoo/zoo.h"

namespace tw::frontends {

std::span<const ZooModel> zoo() {
  static const std::array kModels = {
      ZooModel{"mlp", "Three dense layers with ReLU and a softmax over ten digits", build_mlp},
      ZooModel{"lenet5", "Two 5x5 convolutions with tanh and average pooling, three dense layers", build_lenet5},
      ZooModel{"resnet18", "Residual network of 18 layers with batch normalisation", build_resnet18},
      ZooModel{"mobilenet_v2", "Inverted residual blocks with depthwise convolutions and ReLU6", build_mobilenet_v2},
      ZooModel{"squeezenet1_1", "Fire modules: 1x1 squeeze, then concatenated 1x1 and 3x3 convolutions", build_squeezenet1_1},
      ZooModel{"resnet50", "Residual network of 50 layers with bottleneck blocks", build_resnet50},
      ZooModel{"vgg16", "Thirteen 3x3 convolutions and three large dense layers; 528 MiB", build_vgg16},
      ZooModel{"densenet121", "Every layer reads all before it: concatenations, normalisation before convolutions", build_densenet121},
      ZooModel{"shufflenet_v2", "Depthwise convolutions, channel split and shuffle", build_shufflenet_v2},
      ZooModel{"vit_b_16", "Vision transformer: patches of 16x16 pixels as tokens, twelve layers; 330 MiB", build_vit_b_16},
      ZooModel{"bert_base", "Text encoder of twelve transformer layers over 128 tokens; 418 MiB", build_bert_base},
      ZooModel{"inception_v3", "Parallel branches of square, row and column windows, concatenated", build_inception_v3},
      ZooModel{"dcgan", "Image generator: transposed convolutions from noise to 64x64 pixels", build_dcgan},
      ZooModel{"r3d_18", "Residual network over videos: 3-dimensional convolutions", build_r3d_18},
      ZooModel{"gpt2_small", "Text decoder of twelve layers with a causal mask over 128 tokens; 475 MiB", build_gpt2_small},
      ZooModel{"llama_block", "One decoder layer with RMSNorm, rotary embedding, grouped queries and a SiLU-gated MLP; 168 MiB", build_llama_block},
      ZooModel{"vit_b_32", "The vision transformer with patches of 32x32 pixels, 50 tokens; 337 MiB", build_vit_b_32},
      ZooModel{"dcgan_discriminator", "Convolutions with leaky ReLU that tell generated images of 64x64 pixels from real ones", build_dcgan_discriminator},
      ZooModel{"llama_7b_block", "One decoder layer in LLaMA-7B's sizes over 100 tokens; 772 MiB", build_llama_7b_block},
  };
  return kModels;
}

const FileKind kZooFile{"a bundled network",
                        [](std::string_view beginning) { return beginning.substr(0, 64).find("\x12\x0atilewright") != std::string_view::npos; }};

Expected<void> write_zoo_model(const std::string& name, const ZooOptions& options, const std::string& path, bool synced) {
  std::vector<std::string> names;
  for (const ZooModel& m : zoo()) {
    names.emplace_back(m.name);
    if (name != m.name) continue;
    TW_TRY(const OnnxModel model, m.build(options));
    TW_TRY(FileWriter file, FileWriter::open(path, kZooFile));
    TW_CHECK(model.write([&](std::string_view bytes) { return file.write(bytes); }));
    return file.commit(synced);
  }
  return Error(ErrorCode::not_found, fmt::format("Expected one of {}, found '{}'", fmt::join(names, ", "), printable(name)));
}

}  // namespace tw::frontends
