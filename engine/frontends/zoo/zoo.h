// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/frontends/frontend.h"

/// The bundled networks, one per file.
namespace tw::frontends {

/// Three fully connected layers. Source: the perceptron of every textbook.
Expected<OnnxModel> build_mlp(const ZooOptions& options);
/// Source: LeCun et al., "Gradient-based learning applied to document recognition", Proc. IEEE 1998.
Expected<OnnxModel> build_lenet5(const ZooOptions& options);
/// Source: He et al., "Deep residual learning for image recognition", CVPR 2016.
Expected<OnnxModel> build_resnet18(const ZooOptions& options);
/// Source: Sandler et al., "MobileNetV2: inverted residuals and linear bottlenecks", CVPR 2018.
Expected<OnnxModel> build_mobilenet_v2(const ZooOptions& options);
/// Source: Iandola et al., "SqueezeNet", 2016, in the later variant 1.1 with the smaller first layers.
Expected<OnnxModel> build_squeezenet1_1(const ZooOptions& options);
/// Source: as resnet18, with bottleneck blocks; the stride is in the 3x3 convolution.
Expected<OnnxModel> build_resnet50(const ZooOptions& options);
/// Source: Simonyan and Zisserman, "Very deep convolutional networks for large-scale image recognition", ICLR 2015 (configuration D).
Expected<OnnxModel> build_vgg16(const ZooOptions& options);
/// Source: Huang et al., "Densely connected convolutional networks", CVPR 2017.
Expected<OnnxModel> build_densenet121(const ZooOptions& options);
/// Source: Ma et al., "ShuffleNet V2: practical guidelines for efficient CNN architecture design", ECCV 2018 (width 1).
Expected<OnnxModel> build_shufflenet_v2(const ZooOptions& options);
/// Source: Dosovitskiy et al., "An image is worth 16x16 words", ICLR 2021 (base, patches of 16).
Expected<OnnxModel> build_vit_b_16(const ZooOptions& options);
/// The same with patches of 32.
Expected<OnnxModel> build_vit_b_32(const ZooOptions& options);
/// Source: Devlin et al., "BERT", NAACL 2019 (base; 128 tokens, no padding mask).
Expected<OnnxModel> build_bert_base(const ZooOptions& options);
/// Source: Szegedy et al., "Rethinking the inception architecture for computer vision", CVPR 2016 (without the auxiliary classifier).
Expected<OnnxModel> build_inception_v3(const ZooOptions& options);
/// Source: Radford et al., "Unsupervised representation learning with deep convolutional generative adversarial networks", ICLR 2016: the generator.
Expected<OnnxModel> build_dcgan(const ZooOptions& options);
/// The discriminator of the same.
Expected<OnnxModel> build_dcgan_discriminator(const ZooOptions& options);
/// Source: Tran et al., "A closer look at spatiotemporal convolutions for action recognition", CVPR 2018 (R3D, 18 layers, 16 frames).
Expected<OnnxModel> build_r3d_18(const ZooOptions& options);
/// Source: Radford et al., "Language models are unsupervised multitask learners", 2019 (124 million parameters; 128 tokens).
Expected<OnnxModel> build_gpt2_small(const ZooOptions& options);
/// One layer. Source: Touvron et al., "LLaMA: open and efficient foundation language models", 2023, in the sizes of
/// Zhang et al., "TinyLlama: an open-source small language model", 2024 (128 tokens).
Expected<OnnxModel> build_llama_block(const ZooOptions& options);

/// The same in the sizes of LLaMA-7B, with 100 tokens and as many heads of keys as of queries.
Expected<OnnxModel> build_llama_7b_block(const ZooOptions& options);

}  // namespace tw::frontends
