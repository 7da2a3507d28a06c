// SPDX-License-Identifier: Apache-2.0
// Writes TorchScript files through libtorch, for the tests of their reader: script_files FOLDER
#include <torch/csrc/autograd/variable.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>

#include <cstdio>
#include <string>

namespace {

using torch::jit::Module;

std::string folder;
/// Modules of one file have names of their own. They are saved in training mode, which readers change.
Module made(const std::string& name) {
  Module m(name);
  m.register_attribute("training", c10::BoolType::get(), true);
  return m;
}
void save(const Module& m, const std::string& name) { m.save(folder + "/" + name + ".pt"); }

void add(Module& m, const std::string& name, std::vector<int64_t> shape, double scale) { m.register_parameter(name, torch::randn(shape) * scale, false); }

/// A convolution with what normalises its results.
void add_convolution(Module& m, const std::string& name, int64_t out, int64_t in, int64_t kernel) {
  add(m, name + "_w", {out, in, kernel, kernel}, 1 / std::sqrt(static_cast<double>(in * kernel * kernel)));
  m.register_parameter(name + "_g", torch::rand({out}) + 0.5, false);
  add(m, name + "_b", {out}, 0.1);
  m.register_buffer(name + "_m", torch::randn({out}) * 0.1);
  m.register_buffer(name + "_v", torch::rand({out}) + 0.5);
}
/// The call of it, as a line of TorchScript.
std::string convolution(const std::string& to, const std::string& from, const std::string& name, int64_t stride, int64_t padding) {
  const auto n = [](int64_t v) { return std::to_string(v); };
  return "    " + to + " = torch.batch_norm(torch.conv2d(" + from + ", self." + name + "_w, None, [" + n(stride) + ", " + n(stride) + "], [" + n(padding) + ", " + n(padding) + "], [1, 1], 1), self." + name +
         "_g, self." + name + "_b, self." + name + "_m, self." + name + "_v, self.training, 0.1, 1e-5, True)\n";
}

Module block(const std::string& name, int64_t in, int64_t out, int64_t stride) {
  Module m = made(name);
  add_convolution(m, "first", out, in, 3);
  add_convolution(m, "second", out, out, 3);
  const bool down = stride != 1 || in != out;
  m.register_attribute("down", c10::BoolType::get(), down);
  add_convolution(m, "third", out, in, 1);
  m.define("def forward(self, x):\n" + convolution("y", "x", "first", stride, 1) + "    y = torch.relu_(y)\n" + convolution("y", "y", "second", 1, 1) + "    if self.down:\n  " +
           convolution("x", "x", "third", stride, 0) + "    y += x\n    return torch.relu_(y)\n");
  return m;
}

/// The structure of ResNet-18 with as many channels in its first stage. Source: He et al., "Deep Residual Learning for Image Recognition" (2015).
void write_resnet(const std::string& file, int64_t channels) {
  Module m = made("ResNet_" + file);
  add_convolution(m, "stem", channels, 3, 7);
  std::string calls;
  int64_t in = channels;
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t k = 0; k < 2; ++k) {
      const int64_t out = channels << stage;
      const std::string name = "layer" + std::to_string(stage + 1) + "_" + std::to_string(k);
      m.register_module(name, block("Block_" + file + "_" + name, in, out, stage > 0 && k == 0 ? 2 : 1));
      calls += "    x = self." + name + ".forward(x)\n";
      in = out;
    }
  add(m, "fc_w", {10, in}, 0.1);
  add(m, "fc_b", {10}, 0.1);
  m.define("def forward(self, x):\n" + convolution("x", "x", "stem", 2, 3) + "    x = torch.max_pool2d(torch.relu(x), [3, 3], [2, 2], [1, 1], [1, 1], False)\n" + calls +
           "    x = torch.flatten(torch.adaptive_avg_pool2d(x, [1, 1]), 1, -1)\n    x = torch.dropout(x, 0.5, self.training)\n    return torch.linear(x, self.fc_w, self.fc_b)\n");
  save(m, file);
}

/// Whatever Python has that a graph has not: branches over sizes, loops, lists, tuples, dictionaries, writing to parts.
void write_control() {
  Module m = made("Control");
  add(m, "w", {4, 4}, 0.5);
  m.register_attribute("steps", c10::IntType::get(), 3);
  m.define(R"(
def halves(self, x) -> Tuple[Tensor, Tensor]:
    n = x.size(1) // 2
    return x[:, :n], x[:, n:]

def forward(self, x, scale: Optional[Tensor] = None):
    parts = []
    for i in range(self.steps):
        if i % 2 == 0:
            x = torch.tanh(torch.matmul(x, self.w))
        else:
            x = x + float(i)
        parts.append(x)
    n = 0
    while n < x.dim():
        n += 1
    a, b = self.halves(x)
    out = torch.zeros([x.size(0), 4])
    out[:, 0] = a[:, 1]
    out[:, 1:3] = b * n
    if scale is not None:
        out = out * scale
    masked = torch.where(x > 0, x, torch.zeros_like(x))
    named = {"parts": torch.cat(parts, 1), "out": out}
    named["masked"] = masked
    return named
)");
  save(m, "control");
}

void write_texts() {
  Module m = made("Texts");
  add(m, "table", {50, 8}, 1);
  add(m, "w", {3, 8}, 1);
  m.define(R"(
def forward(self, ids, weight):
    x = torch.embedding(self.table, ids, -1, False, False)
    x = torch.softmax(torch.matmul(x, x.transpose(1, 2)) / 8.0, -1).matmul(x)
    return torch.linear(x, self.w), x * weight
)");
  save(m, "texts");
}

/// Updates at places that one row of the input says, as graph networks have their edges.
void write_edges() {
  Module m = made("Edges");
  add(m, "sums", {20, 8}, 1);
  m.define(R"(
def forward(self, x, edges):
    return self.sums.index_add(0, edges.select(0, 1), x)
)");
  save(m, "edges");
}

/// A table behind a view, as OPT has it.
void write_viewed_texts() {
  Module m = made("ViewedTexts");
  add(m, "table", {50, 8}, 1);
  m.define(R"(
def forward(self, ids):
    return torch.embedding(self.table, ids.view(-1, ids.size(1)), -1, False, False)
)");
  save(m, "viewed_texts");
}

/// Rows of a table summed bag by bag, for bags of one size and of several; and numbers as tracing stores them.
void write_bags() {
  Module m = made("Bags");
  add(m, "table", {50, 8}, 1);
  m.define(R"(
def forward(self, ids):
    flat = ids.reshape(-1)
    alike = torch.embedding_bag(self.table, flat, torch.arange(0, flat.size(0), ids.size(1)), False, 1)[0]
    several = torch.embedding_bag(self.table, flat, torch.tensor([0, 2, 2, 7]), False, 2)[0]
    return alike, several
)");
  save(m, "bags");
  Module traced = made("Traced");
  traced.define("def forward(self, x):\n    return x + torch.arange(4)\n");
  // What tracing makes of torch.arange(4) / 2 + x: a constant without dimensions, of 64 bits.
  auto& function = torch::jit::toGraphFunction(traced.get_method("forward").function());
  torch::jit::Graph& graph = *function.graph();
  for (torch::jit::Node* n : graph.nodes()) {
    if (n->kind() != c10::Symbol::fromQualString("aten::add")) continue;
    const torch::jit::WithInsertPoint here(n);
    torch::jit::Value* two = graph.insertConstant(torch::tensor(2.0, torch::kFloat64));
    n->replaceInput(1, graph.insert(c10::Symbol::fromQualString("aten::div"), {n->inputs()[1], two}));
  }
  save(traced, "traced_number");
}

/// A pool undone.
void write_unpooled() {
  Module m = made("Unpooled");
  m.define(R"(
def forward(self, x):
    y, places = torch.max_pool2d_with_indices(x, [2, 2], [2, 2], [0, 0], [1, 1], False)
    return torch.max_unpool2d(torch.tanh(y), places, [x.size(2), x.size(3)])
)");
  save(m, "unpooled");
}

void write_source(const std::string& name, const std::string& source) {
  Module m = made("Module_" + name);
  add(m, "w", {3, 3}, 1);
  m.define(source);
  save(m, name);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  try {
    torch::manual_seed(1);
    write_resnet("resnet18", 64);
    write_resnet("resnet_small", 8);
    write_control();
    write_texts();
    write_viewed_texts();
    write_bags();
    write_unpooled();
    write_edges();
    write_source("decided", "def forward(self, x):\n    if bool(x.sum() > 0):\n        x = x + 1\n    return x\n");
    write_source("decided_loop", "def forward(self, x):\n    n = int(x.max())\n    for i in range(n):\n        x = x + 1\n    return x\n");
    write_source("decided_number", "def forward(self, x):\n    n = float(x.max())\n    return torch.full([2, 2], n * 2.0) + x\n");
    write_source("own_statistics", "def forward(self, x):\n    w = torch.batch_norm(self.w.reshape([1, 3, 3]), None, None, None, None, True, 0.0, 1e-5, False)\n"
                                   "    y = torch.matmul(x, w.reshape([3, 3]))\n    return torch.batch_norm(y, self.w[0], self.w[1], None, None, True, 0.1, 1e-3, False)\n");
    write_source("named_padding", "def forward(self, x):\n    w = self.w.reshape([1, 1, 3, 3])\n    return torch.conv2d(torch.conv2d(x, w[:, :, :, :2], None, [1, 1], 'same', [2, 1], 1), w, None, [2, 2], 'valid', [1, 1], 1)\n");
    write_source("unknown", "def forward(self, x):\n    return torch.special_bessel_j0(torch.matmul(x, self.w)) + torch.special_bessel_j1(x)\n");
    write_source("number_input", "def forward(self, x, n: int):\n    return x + n\n");
    write_source("raises", "def forward(self, x):\n    assert x.size(0) == 2, 'expects a batch of two'\n    return torch.matmul(x, self.w)\n");
    write_source("saves", "def forward(self, x):\n    torch.save(x, 'written_by_a_stranger')\n    return x + 1\n");
    write_source("endless", "def forward(self, x):\n    n = 0\n    while n < 1000000000:\n        n += 1\n    return x + n\n");
    write_source("greedy", "def forward(self, x):\n    y = torch.zeros([1 << 20, 1 << 20])\n    return x + y[0, 0]\n");
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
  return 0;
}
