# SPDX-License-Identifier: Apache-2.0
"""Writes the small exported programs that the tests of the reader of `.pt2` keep: torch_fixtures.py FOLDER

Random weights, inputs and outputs as `.npy`, as `tw check` takes them. Paths of the machine that exports are left out, as are pickled sample inputs.
Exit code 3 if PyTorch is not installed.
"""
import json
import os
import re
import sys
import tempfile
import zipfile

try:
    import numpy
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    sys.exit(3)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.conv = nn.Conv2d(channels, channels, 3, padding=1, bias=False)
        self.bn = nn.BatchNorm2d(channels)
        self.relu = nn.ReLU(inplace=True)

    def forward(self, x):
        y = self.bn(self.conv(x))
        y += x
        return self.relu(y)


class Convolutions(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.pool = nn.MaxPool2d(3, 2, padding=1)
        self.layer1 = nn.Sequential(Block(8), Block(8))
        self.up = nn.ConvTranspose2d(8, 4, 2, stride=2)
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        x = F.hardswish(self.stem(x))
        features = self.layer1(self.pool(x))
        pooled = F.adaptive_avg_pool2d(features, (1, 1))
        image = F.interpolate(self.up(features), scale_factor=2.0, mode="bilinear", align_corners=False)
        return self.fc(torch.flatten(pooled, 1)), image


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(20, 16)
        self.places = nn.Parameter(torch.randn(12, 16) * 0.1)
        self.norm = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.out = nn.Linear(16, 16, bias=False)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(approximate="tanh"), nn.Dropout(0.1), nn.Linear(32, 16))

    def forward(self, tokens, mask):
        batch, length = tokens.shape
        x = self.words(tokens) + self.places[:length]
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, 4, 4).permute(2, 0, 3, 1, 4).unbind(0)
        seen = torch.tril(torch.ones(length, length, dtype=torch.bool)) & mask[:, None, None, :]
        x = x + self.out(F.scaled_dot_product_attention(q, k, v, attn_mask=seen).transpose(1, 2).reshape(batch, length, 16))
        x = x + self.mlp(self.norm(x))
        return F.log_softmax(x @ self.words.weight.t(), dim=-1)


class Writes(nn.Module):
    """Views and what is written through them."""

    def __init__(self):
        super().__init__()
        self.register_buffer("table", torch.arange(6.0).reshape(2, 3))

    def forward(self, x, index):
        y = x.clone()
        y[:, 0] = 1.5
        y[1:, ::2] *= 2
        row = y.view(-1, 2, 3)
        row[0, 1].add_(self.table[0])
        y.transpose(0, 1)[2].fill_(-1.0)
        z = torch.zeros(3, 6)
        z[index] = x[:2]
        z.masked_fill_(z > 1.0, 9.0)
        z.index_put_((index, torch.tensor([0, 5])), torch.tensor([4.0, 5.0]), accumulate=True)
        kept = y.detach()
        y = y + 0.0
        kept.clamp_(max=3.0)
        return y, z, kept, x


class Shapes(nn.Module):
    def forward(self, x, grid):
        a = torch.cat([x.flip(1), torch.roll(x, 1, -1)], dim=1).chunk(2, dim=1)[0]
        b = torch.einsum("bchw,bcuw->bhu", x, x).softmax(-1).cumsum(-1)
        values, places = x.flatten(1).topk(3)
        c = F.pad(x, (1, 2, 0, 1), mode="replicate").unfold(2, 3, 2).mean((-1, -2))
        d = F.grid_sample(x, grid, mode="bilinear", padding_mode="border", align_corners=True)
        e = torch.where(x > 0, x.pow(2), torch.sqrt(x.abs())).std(dim=(2, 3), unbiased=False)
        f = torch.repeat_interleave(x.amax(1), 2, dim=1)[..., 1:].expand(2, -1, -1, -1)
        g = torch.arange(x.shape[2], dtype=torch.float32).outer(torch.linspace(0, 1, 4)) // 1
        return a, b, values, places, c, d, e, f, g


class Recurrent(nn.Module):
    """Layers that are unrolled, and functions that PyTorch writes in terms of others."""

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 3, batch_first=True, bidirectional=True)
        self.gru = nn.GRU(6, 5)
        self.head = nn.utils.parametrizations.weight_norm(nn.Conv1d(5, 4, 1))

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        z, last = self.gru(y.transpose(0, 1))
        z = self.head(z.permute(1, 2, 0))
        small = torch.expm1(z * 1e-4) + torch.log1p(z.abs() * 1e-4)
        apart = torch.cdist(z, z).sum() + F.pairwise_distance(z[0], z[1]).sum()
        return h, c, last, small, torch.logaddexp(z, z.flip(-1)).diff(dim=-1), apart, torch.bucketize(z.detach(), torch.linspace(-0.2, 0.2, 5))


class Branches(nn.Module):
    def forward(self, x):
        y = torch.cond(x.sum() > 0, lambda t: t.sin(), lambda t: t.cos() - 1, (x,))
        with torch.no_grad():
            return y * x.shape[0]


def cases():
    torch.manual_seed(1)
    batch = torch.export.Dim("batch", min=1, max=16)
    length = torch.export.Dim("length", min=2, max=12)
    yield "convolutions", Convolutions(), (torch.randn(2, 3, 16, 16),), ({0: batch},)
    yield "transformer", Transformer(), (torch.randint(0, 20, (2, 7)), torch.tensor([[True] * 7, [True] * 4 + [False] * 3])), ({1: length}, {1: length})
    yield "writes", Writes(), (torch.randn(3, 6), torch.tensor([2, 0])), None
    yield "shapes", Shapes(), (torch.randn(2, 4, 5, 6), torch.rand(2, 3, 3, 2) * 2 - 1), None
    yield "branches", Branches(), (torch.randn(3, 4),), None
    yield "recurrent", Recurrent(), (torch.randn(2, 3, 4),), None


def tidy(source, target):
    """The archive without sample inputs, without spaces in JSON and without paths of this machine."""
    with zipfile.ZipFile(source) as old, zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as new:
        for item in old.infolist():
            if "sample_inputs" in item.filename or "serialization_id" in item.filename:
                continue
            data = old.read(item.filename)
            if item.filename.endswith(".json"):
                text = re.sub(r'File \\"[^"\\]*/((?:torch/)?[^"\\]*?[^/"\\]+)\\"', lambda m: 'File \\"' + shorten(m.group(0)) + '\\"', data.decode())
                data = json.dumps(json.loads(text), separators=(",", ":")).encode()
            new.writestr(zipfile.ZipInfo(item.filename.split("/", 1)[1] if "/" in item.filename else item.filename, (1980, 1, 1, 0, 0, 0)), data)


def shorten(frame):
    path = frame[len('File \\"'):-2]
    at = path.find("/torch/")
    return path[at + 1:] if at >= 0 else path.rsplit("/", 1)[-1]


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for name, model, inputs, dynamic in cases():
        model.eval()
        with torch.no_grad():
            for m in model.modules():
                if isinstance(m, nn.BatchNorm2d):
                    m.running_mean.uniform_(-0.1, 0.1)
                    m.running_var.uniform_(0.5, 1.5)
            program = torch.export.export(model, inputs, dynamic_shapes=dynamic)
            outputs = model(*inputs)
        folder = os.path.join(sys.argv[1], name)
        data = os.path.join(folder, "test_data_set_0")
        os.makedirs(data, exist_ok=True)
        with tempfile.TemporaryDirectory() as temporary:
            path = os.path.join(temporary, "m.pt2")
            torch.export.save(program, path)
            tidy(path, os.path.join(folder, "model.pt2"))
        for kind, arrays in (("input", inputs), ("output", outputs if isinstance(outputs, tuple) else (outputs,))):
            for k, t in enumerate(arrays):
                numpy.save(os.path.join(data, f"{kind}_{k}.npy"), t.contiguous().numpy())


if __name__ == "__main__":
    main()
