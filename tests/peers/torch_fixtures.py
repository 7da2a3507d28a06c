# SPDX-License-Identifier: Apache-2.0
"""Writes the small exported programs that the tests of the reader of `.pt2` keep: torch_fixtures.py FOLDER

Random weights, inputs and outputs as `.npy`, as `tw check` takes them. Paths of the machine that exports are left out, as are pickled sample inputs. Most programs, of which
little but text is large, are packed as `model.pt2.z`, in the form of Qt's qCompress: all programs together stay below 200 kB.
Exit code 3 if PyTorch is not installed.
"""
import json
import os
import re
import struct
import sys
import tempfile
import zipfile
import zlib

try:
    import numpy
    import torch
    import torch.nn.functional as F
    from torch import nn
except ImportError:
    sys.exit(3)


# Those that tests beside conformance_test open stay as they are.
KEPT = ("branches", "convolutions", "transformer", "writes")


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


class Functions(nn.Module):
    """Functions of single elements: numbers, truths and integers."""

    def forward(self, x, y, i, j):
        p, u, small = x.abs() + 0.1, torch.tanh(x) * 0.9, x * 0.05
        numbers = [x.abs(), x.ceil(), x.floor(), x.trunc(), x.frac(), x.round(decimals=1), x.neg(), x.sign(), x.sgn(), x.square(), x.sin(), x.cos(), x.tanh(), x.sinh(), x.cosh(),
                   x.atan(), x.asinh(), x.exp(), x.exp2(), x.expm1(), small.expm1(), x.erf(), x.erfc(), x.sigmoid(), p.log(), p.log2(), p.log10(), p.log1p(), small.log1p(),
                   p.sqrt(), p.rsqrt(), p.reciprocal(), (p + 1).acosh(), u.acos(), u.asin(), u.atanh(), u.tan(), ((u + 1) / 2).logit(), u.logit(eps=0.2), x.sinc(), x.deg2rad(),
                   x.rad2deg(), torch.where(x > 1, torch.inf, torch.where(x < -1, -torch.inf, x)).nan_to_num(posinf=7.0, neginf=-3.0), i.log2(), i.sqrt(), i.exp()]
        numbers += [F.silu(x), F.softplus(x, 2.0, 1.0), F.elu(x, 0.7), F.celu(x, 1.3), F.selu(x), F.gelu(x), F.gelu(x, approximate="tanh"), F.mish(x), F.hardtanh(x, -0.5, 0.7),
                    F.relu6(x * 5), F.hardsigmoid(x * 2), F.hardswish(x * 2), F.hardshrink(x, 0.3), F.softshrink(x, 0.3), F.threshold(x, 0.1, 20.0), F.leaky_relu(x, 0.2),
                    F.logsigmoid(x), x.clamp(-0.5, 0.5), x.clamp(min=0.2), x.clamp_max(0.3), x.clamp(y, y + 1)]
        numbers += [torch.add(x, y, alpha=2), torch.sub(x, y, alpha=3), torch.rsub(x, y), x * y, x / p, torch.div(x, y, rounding_mode="floor"), torch.div(x, y, rounding_mode="trunc"),
                    x.fmod(0.7), x.remainder(0.7), x.remainder(-0.7), p ** y, 2.5 ** x, x ** 3, torch.atan2(x, y), torch.maximum(x, y), torch.minimum(x, y), torch.fmax(x, y),
                    torch.fmin(x, y), torch.hypot(x, y), torch.logaddexp(x, y), torch.logaddexp2(x, y), torch.xlogy(x, p), torch.copysign(x, y), torch.heaviside(x, y),
                    torch.lerp(x, y, 0.3), torch.addcmul(x, x, y, value=2), torch.addcdiv(x, y, p, value=0.5), x.masked_fill(y > 0, 4.0), torch.hypot(i, y), torch.atan2(i, j)]
        truths = [x == y, x != y, x < y, x <= x.round(), x > y, x >= x.round(), torch.isclose(x, x + 1e-9), torch.isclose(x, y, rtol=0.5, atol=0.1), x.isnan(), (x / 0).isinf(), x.isfinite(),
                  i.isfinite(), i.isnan(), torch.logical_and(i, j), torch.logical_or(i, j), torch.logical_xor(i, j), torch.logical_not(i), (x > 0) & (y > 0), (x > 0) ^ (y > 0), ~(x > 0)]
        integers = [i & j, i | j, i ^ j, ~i, i << 2, i >> 1, i // (j + 1), i % (j + 1), torch.fmod(-i, j + 1), i ** 2, torch.sign(i - j), i.clamp(1, 4), i.abs().neg(), torch.maximum(i, j)]
        return torch.stack(numbers), torch.stack(truths), torch.stack(integers)


class Indices(nn.Module):
    """What moves, picks and writes elements."""

    def forward(self, x, i):
        image = x.reshape(1, 4, 6, 4)
        flat = lambda *parts: torch.cat([p.reshape(-1).to(torch.float32) for p in parts])
        rows, two = torch.tensor([2, 0]), x[0, :2, :4]
        moved = flat(x.rot90(1, (1, 2)), x.rot90(2, (1, 2)), x.rot90(3, (0, 1)), x.rot90(-1, (1, 2)), torch.fliplr(x), torch.flipud(x), x.flip(0, 2), x.roll((1, -2), (1, 2)), x.roll(5),
                     x.movedim(0, 2), x.swapaxes(0, 1), x.unflatten(1, (3, 2)), x.diagonal(0, 1, 2), x.diagonal(1, 1, 2), x.diagonal(-2, 2, 1), x.as_strided((2, 3), (5, 2), 3),
                     x.narrow(1, 1, 3), x.unfold(1, 2, 3), x.unfold(2, 4, 1), x.unfold(1, 6, 1), x.unfold(1, 1, 2), x.tril(-1), x.triu(1), (x > 0).triu(), x.T if x.dim() == 2 else x.mT)
        parts = flat(*x.tensor_split(4, 1), *x.tensor_split((1, 3), 1), *x.chunk(4, 1), *x.split((1, 2, 3), 1), *x.split(4, 1), *x.unbind(2), torch.hstack((x, x)), torch.hstack((x[0, 0], x[0, 1])),
                     torch.vstack((x, x)), torch.vstack((x[0, 0], x[0, 1])), torch.column_stack((x[0, 0], x[0, 1])), torch.stack((x, x), 1), *torch.meshgrid(x[0, 0], x[0, :3, 0], indexing="ij"),
                     *torch.meshgrid(x[0, 0], x[0, :3, 0], indexing="xy"), *torch.broadcast_tensors(x[0, :, :1], x[0, :1]), x.repeat(1, 2, 1), x.tile(2), x.repeat_interleave(2, 1),
                     x[0].repeat_interleave(torch.tensor([1, 0, 2, 1, 0, 3]), 0, output_size=7))
        around = flat(F.pad(x, (1, 2)), F.pad(x, (1, 0, 0, 2, 3, 1), value=0.5), F.pad(x, (-1, 2, 1, -2)), F.pad(image, (1, 2, 2, 1), mode="reflect"), F.pad(image, (1, 2, 0, 1), mode="replicate"),
                      F.pad(image, (2, 1, 1, 0), mode="circular"), F.pad(x, (1, 2), mode="reflect"), F.unfold(image, (2, 3), dilation=(2, 1), padding=(1, 2), stride=(3, 2)), F.pixel_shuffle(image, 2),
                      F.pixel_unshuffle(image, 2), F.channel_shuffle(image, 2))
        written = flat(x.index_add(1, rows, x[:, :2], alpha=2), x.index_copy(1, rows, x[:, 3:5]), x.index_fill(2, rows, 9.0), x.index_select(1, rows), x.gather(2, i), x.scatter(2, i, -x),
                       x.scatter(2, i, 3.0), x.scatter_add(2, i[:, :, :1], x), x.scatter_reduce(2, i[:, :, :1], x, "amax"), x.select_scatter(x[:, 0], 1, 4),
                       x.slice_scatter(x[:, :2], 1, 1, 5, 2), x.take_along_dim(i, 2), F.one_hot(i[0], 4), x[:, rows, 1], x[i[0, 0], 1], torch.where(x > 0, x, 0.0))
        totals = flat(x.cumsum(1), x.cumprod(2), x.std(1), x.var(2, unbiased=False), *torch.std_mean(x, (0, 1)), *torch.var_mean(x, 2), x.prod(1), x.norm(dim=1), x.norm(3, 2), x.logsumexp(1), x.amin((0, 2)), x.amax(1),
                      x.argmax(1), x.argmin(), x.argsort(2), x.sort(1, descending=True)[0], x.sort(2)[1], x.count_nonzero(1), (x > 0).any(1), (x > -1).all(2), *x.max(1), *x.min(2), x.mean(), x.sum((0, 1)), *x.topk(2, 1))
        products = flat(torch.linalg.cross(x[:, :3], x[:, 3:], dim=1), torch.tensordot(x, x, ([0, 2], [0, 2])), torch.inner(two, two + 1), two[0].dot(two[1]), two[0].outer(two[1]), torch.cdist(two, two + 0.5),
                        torch.addmm(two, x[0, :2], x[0, :4], beta=0.5, alpha=2), torch.baddbmm(x[:, :4], x[:, :4], x[:, :4]), torch.addmv(two[:, 0], two, two[0]), two @ two[1], torch.bmm(x, x.mT),
                        F.pairwise_distance(two, two + 1), F.cosine_similarity(x, x.flip(1), 2), torch.einsum("bij,bkj->ik", x, x), x.diff(dim=1), torch.bucketize(x, torch.linspace(-1, 1, 5)),
                        torch.bucketize(x.round(), torch.linspace(-1, 1, 3), right=True), torch.searchsorted(torch.linspace(-1, 1, 6), x, side="right"))
        return moved, parts, around, written, totals, products


class Layers(nn.Module):
    """Layers that the other programs leave out."""

    def __init__(self):
        super().__init__()
        self.cells = nn.ModuleList([nn.LSTMCell(4, 3), nn.GRUCell(4, 3), nn.RNNCell(4, 3), nn.RNNCell(4, 3, nonlinearity="relu"), nn.RNNCell(4, 3, bias=False)])
        self.whole = nn.ModuleList([nn.RNN(4, 3, 2), nn.RNN(4, 3, nonlinearity="relu", bidirectional=True), nn.GRU(4, 3, batch_first=True), nn.LSTM(4, 3, 2, bias=False)])
        self.rows = nn.ModuleList([nn.Conv1d(4, 6, 3, stride=2, padding=1, dilation=2, groups=2), nn.ConvTranspose1d(4, 3, 3, stride=2, padding=1, output_padding=1), nn.AvgPool1d(3, 2, 1),
                                   nn.MaxPool1d(3, 2, 1), nn.AdaptiveAvgPool1d(3), nn.AdaptiveMaxPool1d(2), nn.PReLU(4), nn.InstanceNorm1d(4, affine=True), nn.GroupNorm(2, 4), nn.GLU(1),
                                   nn.BatchNorm1d(4)])
        self.images = nn.ModuleList([nn.Conv2d(4, 4, (3, 1), padding=(1, 0), groups=4), nn.ConvTranspose2d(4, 2, 3, stride=(2, 1), padding=1, dilation=(1, 2)), nn.AvgPool2d(3, 2, 1, count_include_pad=False),
                                     nn.AvgPool2d(2, 2, ceil_mode=True), nn.MaxPool2d((3, 2), dilation=(1, 2), ceil_mode=True), nn.AdaptiveAvgPool2d((3, 2)), nn.AdaptiveMaxPool2d(2), nn.LayerNorm((6, 5)),
                                     nn.Conv2d(4, 4, 3, padding="same", padding_mode="reflect")])
        self.boxes = nn.ModuleList([nn.Conv3d(2, 3, 2), nn.ConvTranspose3d(2, 2, 2, stride=2), nn.AvgPool3d(2), nn.MaxPool3d(2), nn.AdaptiveAvgPool3d(1)])
        self.mixed = nn.Bilinear(3, 3, 2)

    def forward(self, x, image, box):
        flat = lambda *parts: torch.cat([p.reshape(-1) for p in parts])
        t = x.mT
        h = t[2, :, :3] * 0.5
        cells = flat(*self.cells[0](t[0], (h, h + 1)), *[cell(t[1], h) for cell in self.cells[1:]], *[layer(t)[0] for layer in self.whole], self.mixed(h, h + 1))
        rows = flat(*[layer(x) for layer in self.rows])
        images = flat(*[layer(image) for layer in self.images])
        boxes = flat(*[layer(box) for layer in self.boxes], *[F.interpolate(box, (3, 5, 6), mode=m) for m in ("nearest", "nearest-exact", "trilinear")])
        sizes = flat(F.interpolate(x, 7, mode="nearest"), F.interpolate(x, 9, mode="linear", align_corners=True), F.interpolate(image, (4, 9), mode="nearest"),
                     F.interpolate(image, (3, 3), mode="bilinear", antialias=True), F.interpolate(image, (4, 2), mode="bicubic", antialias=True),
                     F.interpolate(image, (9, 4), mode="nearest-exact"), F.interpolate(image, (9, 7), mode="bicubic"), F.interpolate(image, (11, 3), mode="bilinear", align_corners=True),
                     F.grid_sample(image, F.affine_grid(image[:, 0, :2, :3] * 0.3, (2, 1, 3, 4), align_corners=False), mode="bicubic", padding_mode="reflection", align_corners=False),
                     F.grid_sample(image, F.affine_grid(image[:, 1, :2, :3] * 0.8, (2, 1, 3, 4), align_corners=True), mode="nearest", align_corners=True))
        norms = flat(F.rms_norm(image, (5,)), F.normalize(x, dim=1), F.softmin(x, 1), F.softmax(image, 2), F.log_softmax(image, 3), F.local_response_norm(image, 3), F.instance_norm(image),
                     F.scaled_dot_product_attention(image, image + 1, image * 2, is_causal=True), torch.fake_quantize_per_tensor_affine(x, 0.1, 3, -8, 7))
        return cells, rows, images, boxes, sizes, norms


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
    yield "functions", Functions(), (torch.randn(3, 4) * 1.5, torch.randn(3, 4), torch.randint(0, 8, (3, 4)), torch.randint(0, 8, (3, 4))), None
    yield "indices", Indices(), (torch.randn(4, 6, 4), torch.randint(0, 4, (4, 6, 2))), None
    yield "layers", Layers(), (torch.randn(3, 4, 6), torch.randn(2, 4, 6, 5), torch.randn(1, 2, 4, 4, 4)), None


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


def pack(path):
    with open(path, "rb") as f:
        data = f.read()
    with open(path + ".z", "wb") as f:
        f.write(struct.pack(">I", len(data)) + zlib.compress(data, 9))
    os.remove(path)


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
        if name not in KEPT:
            pack(os.path.join(folder, "model.pt2"))
        for kind, arrays in (("input", inputs), ("output", outputs if isinstance(outputs, tuple) else (outputs,))):
            for k, t in enumerate(arrays):
                numpy.save(os.path.join(data, f"{kind}_{k}.npy"), t.contiguous().numpy())


if __name__ == "__main__":
    main()
