# SPDX-License-Identifier: Apache-2.0
"""Exports networks by PyTorch and compares their outputs: torch_outputs.py TW [--models NAME,...] [--forms pt2,onnx,onnx-script] [--keep FOLDER] [--list]

Networks of torchvision and transformers with random weights, the latter at small sizes, are exported as `.pt2` (torch.export), as ONNX by the exporter built
on it and as ONNX by the one that traces. Each becomes a folder that `tw check` takes: the model, `test_data_set_0` with inputs and outputs. Prints what
passed, what was refused and what is wrong; of the latter, what ONNX's reference evaluator finds in the exported file too. Exit code 0 if nothing else is wrong, 1 otherwise, 3 if PyTorch is not installed.
"""
import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import warnings

warnings.simplefilter("ignore")
try:
    import numpy
    import torch
except ImportError:
    sys.exit(3)

NETWORKS = {}  # name -> function that gives (module, inputs)


def network(name):
    def keep(function):
        NETWORKS[name] = function
        return function
    return keep


def image(size=64, batch=1):
    return torch.randn(batch, 3, size, size)


def vision(name, size=64, **options):
    @network(name)
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options), (image(size),)


for plain in ("alexnet", "vgg11_bn", "resnet18", "resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "mobilenet_v2", "mobilenet_v3_small",
              "efficientnet_b0", "efficientnet_v2_s", "convnext_tiny", "regnet_y_400mf", "shufflenet_v2_x1_0", "squeezenet1_1", "mnasnet0_5"):
    vision(plain)
vision("googlenet", init_weights=False)
vision("inception_v3", 96, init_weights=False)
vision("vit_b_16", 64, image_size=64)
vision("swin_t")
vision("swin_v2_t")
vision("maxvit_t", 224)


class Only(torch.nn.Module):
    """One tensor, or a tuple of tensors, of a network that returns a dictionary or an object."""

    def __init__(self, inner, keys=None, call=None):
        super().__init__()
        self.inner, self.keys, self.call = inner, keys, call

    def forward(self, *inputs):
        out = self.inner(*inputs) if self.call is None else self.call(self.inner, *inputs)
        if self.keys is None:
            return out
        return tuple(out[k] for k in self.keys)


def segmentation(name, **options):
    @network(name)
    def make():
        import torchvision
        model = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None, num_classes=5, **options)
        return Only(model, ["out"]), (image(64, 1),)


segmentation("fcn_resnet50")
segmentation("deeplabv3_resnet50")
segmentation("deeplabv3_mobilenet_v3_large")
segmentation("lraspp_mobilenet_v3_large")


def backbone(name, function, keys, **options):
    @network(name)
    def make():
        from torchvision.models.detection import backbone_utils
        return Only(getattr(backbone_utils, function)(backbone_name=name.split("-")[0], weights=None, **options), keys), (image(),)


backbone("resnet50-fpn", "resnet_fpn_backbone", ["0", "1", "2", "3", "pool"])
backbone("mobilenet_v3_large-fpn", "mobilenet_backbone", ["0", "1", "pool"], fpn=True)


@network("retinanet-head")
def retinanet():
    from torchvision.models.detection.backbone_utils import resnet_fpn_backbone
    from torchvision.models.detection.retinanet import RetinaNetHead

    class Detector(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.backbone = resnet_fpn_backbone(backbone_name="resnet18", weights=None)
            self.head = RetinaNetHead(256, 9, 7)

        def forward(self, x):
            out = self.head(list(self.backbone(x).values()))
            return out["cls_logits"], out["bbox_regression"]
    return Detector(), (image(),)


@network("ssdlite-features")
def ssdlite():
    import torchvision
    model = torchvision.models.detection.ssdlite320_mobilenet_v3_large(weights=None, weights_backbone=None, num_classes=6)
    return Only(model.backbone, ["0", "1", "2"]), (image(96),)


def video(name, size=64, frames=8, **options):
    @network(name)
    def make():
        import torchvision
        return torchvision.models.get_model(name, weights=None, **options), (torch.randn(1, 3, frames, size, size),)


video("r3d_18")
video("mc3_18")
video("r2plus1d_18")
video("s3d", 224, 16)
video("swin3d_t", 64)
video("mvit_v1_b", 224, 16)


def ids(batch=2, length=12, words=99):
    return torch.randint(1, words, (batch, length))


SMALL = dict(vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64)


def text(name, config, model, options=None, keys=("last_hidden_state",), masked=True, **more):
    @network(name)
    def make():
        import transformers
        settings = dict(SMALL if options is None else options, **more)
        inner = getattr(transformers, model)(getattr(transformers, config)(**settings))

        def call(m, tokens, mask=None):
            return m(input_ids=tokens, attention_mask=mask, return_dict=True, **({} if "use_cache" not in settings else {"use_cache": False}))
        tokens = ids()
        mask = torch.ones_like(tokens)
        mask[1, 8:] = 0
        return Only(inner, list(keys), call), (tokens, mask) if masked else (tokens,)


text("bert", "BertConfig", "BertModel")
text("bert-classifier", "BertConfig", "BertForSequenceClassification", keys=("logits",))
text("roberta", "RobertaConfig", "RobertaModel", pad_token_id=1)
text("distilbert", "DistilBertConfig", "DistilBertModel", dict(vocab_size=99, dim=32, hidden_dim=64, n_layers=2, n_heads=4, max_position_embeddings=64))
text("albert", "AlbertConfig", "AlbertModel", embedding_size=16)
text("electra", "ElectraConfig", "ElectraModel", embedding_size=16)
text("mpnet", "MPNetConfig", "MPNetModel")
text("deberta-v2", "DebertaV2Config", "DebertaV2Model", relative_attention=True, position_buckets=8, pos_att_type=["p2c", "c2p"])
text("gpt2", "GPT2Config", "GPT2LMHeadModel", dict(vocab_size=99, n_embd=32, n_layer=2, n_head=4, n_positions=64, use_cache=False), keys=("logits",))
text("gpt-neox", "GPTNeoXConfig", "GPTNeoXForCausalLM", keys=("logits",), use_cache=False)
text("opt", "OPTConfig", "OPTForCausalLM", dict(vocab_size=99, hidden_size=32, ffn_dim=64, num_hidden_layers=2, num_attention_heads=4,
                                                max_position_embeddings=64, word_embed_proj_dim=32, use_cache=False), keys=("logits",))
text("llama", "LlamaConfig", "LlamaForCausalLM", keys=("logits",), num_key_value_heads=2, use_cache=False)
text("mistral", "MistralConfig", "MistralForCausalLM", keys=("logits",), num_key_value_heads=2, sliding_window=4, use_cache=False)
text("qwen2", "Qwen2Config", "Qwen2ForCausalLM", keys=("logits",), num_key_value_heads=2, use_cache=False)
text("qwen3", "Qwen3Config", "Qwen3ForCausalLM", keys=("logits",), num_key_value_heads=2, head_dim=8, use_cache=False)
text("phi", "PhiConfig", "PhiForCausalLM", keys=("logits",), use_cache=False)
text("phi3", "Phi3Config", "Phi3ForCausalLM", keys=("logits",), num_key_value_heads=2, use_cache=False, pad_token_id=0)
text("gemma", "GemmaConfig", "GemmaForCausalLM", keys=("logits",), num_key_value_heads=2, head_dim=8, use_cache=False)
text("gemma2", "Gemma2Config", "Gemma2ForCausalLM", keys=("logits",), num_key_value_heads=2, head_dim=8, use_cache=False)
text("falcon", "FalconConfig", "FalconForCausalLM", dict(vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, use_cache=False),
     keys=("logits",))
text("bloom", "BloomConfig", "BloomForCausalLM", dict(vocab_size=99, hidden_size=32, n_layer=2, n_head=4, use_cache=False), keys=("logits",))
text("t5-encoder", "T5Config", "T5EncoderModel", dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4))


def translation(name, config, model, settings):
    @network(name)
    def make():
        import transformers
        inner = getattr(transformers, model)(getattr(transformers, config)(**settings))

        def call(m, tokens, others):
            return m(input_ids=tokens, decoder_input_ids=others, use_cache=False, return_dict=True)
        return Only(inner, ["logits"], call), (ids(), ids(2, 7))


translation("t5", "T5Config", "T5ForConditionalGeneration", dict(vocab_size=99, d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4))
translation("bart", "BartConfig", "BartForConditionalGeneration", dict(
    vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=64,
    decoder_ffn_dim=64, max_position_embeddings=64))


@network("whisper")
def whisper():
    import transformers
    config = transformers.WhisperConfig(vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4,
                                        encoder_ffn_dim=64, decoder_ffn_dim=64, num_mel_bins=8, max_source_positions=20, max_target_positions=32,
                                        pad_token_id=0, bos_token_id=1, eos_token_id=2, decoder_start_token_id=1)
    model = transformers.WhisperForConditionalGeneration(config)

    def call(m, sound, tokens):
        return m(input_features=sound, decoder_input_ids=tokens, use_cache=False, return_dict=True)
    return Only(model, ["logits"], call), (torch.randn(1, 8, 40), ids(1, 6))


@network("clip")
def clip():
    import transformers
    config = transformers.CLIPConfig(
        text_config=dict(vocab_size=99, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=16,
                         projection_dim=16, eos_token_id=98, bos_token_id=97, pad_token_id=0),
        vision_config=dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8, projection_dim=16),
        projection_dim=16)

    def call(m, tokens, pixels):
        return m(input_ids=tokens, pixel_values=pixels, return_dict=True)
    return Only(transformers.CLIPModel(config), ["logits_per_image", "text_embeds", "image_embeds"], call), (ids(2, 10), image(32, 2))


def picture(name, config, model, settings, keys=("logits",), size=32):
    @network(name)
    def make():
        import transformers

        def call(m, pixels):
            return m(pixel_values=pixels, return_dict=True)
        return Only(getattr(transformers, model)(getattr(transformers, config)(**settings)), list(keys), call), (image(size),)


PATCHES = dict(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, image_size=32, patch_size=8)
picture("vit", "ViTConfig", "ViTForImageClassification", PATCHES)
picture("deit", "DeiTConfig", "DeiTForImageClassification", PATCHES)
picture("beit", "BeitConfig", "BeitForImageClassification", dict(PATCHES, use_relative_position_bias=True))
picture("dinov2", "Dinov2Config", "Dinov2Model", PATCHES, ("last_hidden_state",))
picture("swin", "SwinConfig", "SwinForImageClassification", dict(image_size=32, patch_size=2, embed_dim=16, depths=[2, 2], num_heads=[2, 4], window_size=4))
picture("convnext", "ConvNextConfig", "ConvNextForImageClassification", dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], image_size=32))
picture("segformer", "SegformerConfig", "SegformerForSemanticSegmentation",
        dict(hidden_sizes=[8, 16, 24, 32], depths=[1, 1, 1, 1], num_attention_heads=[1, 1, 2, 2], decoder_hidden_size=16), size=64)
picture("mobilevit", "MobileViTConfig", "MobileViTForImageClassification",
        dict(image_size=64, hidden_sizes=[16, 24, 32], neck_hidden_sizes=[8, 8, 16, 16, 24, 24, 48], num_attention_heads=4), size=64)


@network("wav2vec2")
def wav2vec2():
    import transformers
    config = transformers.Wav2Vec2Config(hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, conv_dim=[16] * 3,
                                         conv_stride=[5, 2, 2], conv_kernel=[10, 3, 3], num_conv_pos_embeddings=16, num_conv_pos_embedding_groups=4)
    return Only(transformers.Wav2Vec2Model(config), ["last_hidden_state"], lambda m, x: m(x, return_dict=True)), (torch.randn(1, 2000),)


def tensors(value):
    if isinstance(value, torch.Tensor):
        return [value]
    return [t for v in (value.values() if isinstance(value, dict) else value) for t in tensors(v)]


def settle(module):
    """Statistics of untrained normalisations are all alike; these are not, and keep activations in range."""
    for m in module.modules():
        if isinstance(m, torch.nn.modules.batchnorm._BatchNorm):
            m.running_mean.uniform_(-0.1, 0.1)
            m.running_var.uniform_(0.5, 1.5)


def write_case(folder, model, form, inputs):
    os.makedirs(folder, exist_ok=True)
    data = os.path.join(folder, "test_data_set_0")
    os.makedirs(data, exist_ok=True)
    with torch.no_grad():
        outputs = tensors(model(*inputs))
        for kind, arrays in (("input", inputs), ("output", outputs)):
            for k, t in enumerate(arrays):
                numpy.save(os.path.join(data, f"{kind}_{k}.npy"), t.contiguous().numpy())
        if form == "pt2":
            torch.export.save(torch.export.export(model, inputs), os.path.join(folder, "model.pt2"))
        elif form == "onnx":
            torch.onnx.export(model, inputs, os.path.join(folder, "model.onnx"), dynamo=True, verbose=False)
        else:
            torch.onnx.export(model, inputs, os.path.join(folder, "model.onnx"), dynamo=False)


def export(name, form, folder):
    """Writes one case. Exporting is left to a process of its own: it may crash and leaves state behind."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model, inputs = NETWORKS[name]()
    model.eval()
    with torch.no_grad():
        settle(model)
    write_case(folder, model, form, inputs)


def checked(tw, root):
    """What `tw check` says of the cases below a folder; None where it says nothing."""
    p = subprocess.run([tw, "check", root, "--jobs", "1", "--timeout", "600", "--json"], capture_output=True, text=True)
    if not p.stdout:
        print(p.stderr)
        return None
    return json.loads(p.stdout)


def right_by_the_file(tw, folder):
    """Whether the results are those of ONNX's reference evaluator on the same file: then it was exported as something else than PyTorch computes."""
    from onnx import load
    from onnx.reference import ReferenceEvaluator
    model = load(os.path.join(folder, "model.onnx"))
    data = os.path.join(folder, "test_data_set_0")
    with tempfile.TemporaryDirectory() as other:
        for name in os.listdir(folder):
            if name != "test_data_set_0":  # links to weights beside a model are not followed
                shutil.copy(os.path.join(folder, name), os.path.join(other, name))
        there = os.path.join(other, "test_data_set_0")
        os.makedirs(there)
        feeds = {}
        for k, value in enumerate(model.graph.input):
            shutil.copy(os.path.join(data, f"input_{k}.npy"), there)
            feeds[value.name] = numpy.load(os.path.join(data, f"input_{k}.npy"))
        for k, result in enumerate(ReferenceEvaluator(model).run(None, feeds)):
            numpy.save(os.path.join(there, f"output_{k}.npy"), result)
        document = checked(tw, other)
    return document is not None and document["totals"]["passed"] == 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tw", nargs="?")
    parser.add_argument("--models", default="")
    parser.add_argument("--forms", default="pt2,onnx,onnx-script")
    parser.add_argument("--keep", default="", help="a folder for the cases; those that are there already are not exported again")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--export", nargs=3, metavar=("NAME", "FORM", "FOLDER"), help="writes one case and ends")
    options = parser.parse_args()
    if options.list:
        print("\n".join(NETWORKS))
        return 0
    if options.export:
        export(*options.export)
        return 0
    names = options.models.split(",") if options.models else list(NETWORKS)
    with tempfile.TemporaryDirectory() as temporary:
        root = options.keep or temporary
        not_exported = []
        for form in options.forms.split(","):
            for name in names:
                folder = os.path.join(root, form, name)
                if os.path.exists(os.path.join(folder, "model.pt2" if form == "pt2" else "model.onnx")):
                    continue
                p = subprocess.run([sys.executable, __file__, "--export", name, form, folder], capture_output=True, text=True)
                if p.returncode != 0:
                    not_exported.append((form, name, (p.stderr.strip().splitlines() or ["?"])[-1][:160]))
                print(f"{form} {name}: {'exported' if p.returncode == 0 else 'PyTorch cannot export it'}", file=sys.stderr)
        for form, name, why in not_exported:
            print(f"{form}/{name}: not exported: {why}")
        if not options.tw:
            return 0
        failed = False
        for form in options.forms.split(","):
            document = checked(options.tw, os.path.join(root, form))
            if document is None:
                return 1
            for case in document["cases"]:
                if case["status"] == "passed":
                    continue
                exported_so = case["status"] == "wrong" and form != "pt2" and right_by_the_file(options.tw, os.path.join(root, form, case["name"]))
                failed = failed or (case["status"] in ("wrong", "crashed") and not exported_so)
                print(f"{form}/{case['name']}: {case['status']}: {case['reason']}" + ("; the file says so, by ONNX's reference evaluator" if exported_so else ""))
            print(f"{form}: " + " ".join(f"{k} {v}" for k, v in document["totals"].items()))
        return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
