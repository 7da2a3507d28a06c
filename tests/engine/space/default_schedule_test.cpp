// SPDX-License-Identifier: Apache-2.0
#include <QtTest>

#include "engine/base/text.h"
#include "engine/schedule/schedule.h"
#include "tests/engine/space/schedule_check.h"

using namespace tw;
using namespace tw::space::testing;

namespace {

Case unary(const std::string& op, Dims shape, DType t = kFloat32) {
  return {op + " of " + t.name(), [=](Net& n) { return n.op(op, {n.input(shape, t)}); }};
}
Case reduce(const std::string& op, Dims shape, Dims axes, DType t = kFloat32, int64_t keep = 1) {
  std::string name = op + " of " + t.name();
  for (const int64_t d : shape) name += " " + std::to_string(d);
  name += " over";
  for (const int64_t a : axes) name += " " + std::to_string(a);
  return {name, [=](Net& n) { return n.op(op, {n.input(shape, t)}, {{"axes", axes}, {"keepdims", keep}}); }};
}
Case along(const std::string& op, Dims shape, int64_t axis, DType t = kFloat32) {
  std::string name = op + " of " + t.name();
  for (const int64_t d : shape) name += " " + std::to_string(d);
  return {name + " along " + std::to_string(axis), [=](Net& n) { return n.op(op, {n.input(shape, t)}, {{"axis", axis}}); }};
}
Case transpose(Dims shape, Dims perm, DType t = kFloat32) {
  std::string name = "transpose of " + t.name();
  for (const int64_t d : shape) name += " " + std::to_string(d);
  name += " to";
  for (const int64_t p : perm) name += " " + std::to_string(p);
  return {name, [=](Net& n) { return n.op("transpose", {n.input(shape, t)}, {{"perm", perm}}); }};
}
Case pool(const std::string& op, Dims shape, int64_t kernel, int64_t stride, int64_t pad, DType t = kFloat32) {
  std::string name = op + " " + std::to_string(kernel) + " by " + std::to_string(stride) + " of " + t.name();
  for (const int64_t d : shape) name += " " + std::to_string(d);
  return {name, [=](Net& n) {
            const size_t spatial = shape.size() - 2;
            return n.op(op, {n.input(shape, t)}, {{"kernel", Dims(spatial, kernel)}, {"strides", Dims(spatial, stride)}, {"pads", Dims(2 * spatial, pad)}});
          }};
}
Case layer_norm(Dims shape, int64_t axis, DType t = kFloat32) {
  std::string name = "layer_norm of " + t.name();
  for (const int64_t d : shape) name += " " + std::to_string(d);
  return {name + " from " + std::to_string(axis), [=](Net& n) {
            const Dims inner(shape.begin() + axis, shape.end());
            const int x = n.input(shape, t), scale = n.weight(inner, t), bias = n.weight(inner, t);
            return n.op("layer_norm", {x, scale, bias}, {{"axis", axis}});
          }};
}

/// Images normalised over groups of channels, each channel added up first, as on processors.
Make image_norm(Dims shape, int64_t groups) {
  return [=](Net& n) {
    return n.op("instance_norm", {n.input(shape), n.weight({shape[1]}), n.weight({shape[1]})}, {{"groups", groups}, {"by_channel", int64_t{1}}});
  };
}

/// Images resized along columns and rows, or first along rows, a few elements for each, the places given by tables.
Make resized(Dims shape, int64_t height, int64_t width, int64_t taps, bool rows_first = false) {
  return [=](Net& n) {
    const auto along = [&](int x, int64_t axis, int64_t length) {
      return n.op("resample", {x, n.input({length, taps}, kInt64), n.input({length, taps})}, {{"axis", axis}});
    };
    const int x = n.input(shape);
    return n.op("relu", {rows_first ? along(along(x, 3, width), 2, height) : along(along(x, 2, height), 3, width)});
  };
}

std::vector<Case> cases() {
  std::vector<Case> all{
      // Points of templates.
      {"dense, one row",
       [](Net& n) {
         return n.op("dense", {n.input({1, 70}), n.weight({48, 70}), n.weight({48})});
       }},
      {"dense with a chain",
       [](Net& n) {
         return n.op("sigmoid", {n.op("relu", {n.op("dense", {n.input({37, 33}), n.weight({64, 33}), n.weight({64})})})});
       }},
      {"dense, width without vectors",
       [](Net& n) {
         return n.op("dense", {n.input({5, 19}), n.weight({21, 19})});
       }},
      {"dense, ragged width",
       [](Net& n) {
         return n.op("relu", {n.op("dense", {n.input({19, 35}), n.weight({163, 35}), n.weight({163})})});
       }},
      {"dense of float64",
       [](Net& n) {
         return n.op("dense", {n.input({6, 20}, kFloat64), n.weight({24, 20}, kFloat64)});
       }},
      {"conv2d, first layer",
       [](Net& n) {
         return n.op("relu", {conv(n, {1, 3, 19, 21}, {32, 3, 7, 7}, 2, 3)});
       }},
      {"conv2d, strided",
       [](Net& n) {
         return conv(n, {1, 32, 15, 13}, {16, 32, 3, 3}, 2, 1);
       }},
      {"conv2d, 1x1 with a residual",
       [](Net& n) {
         const int y = conv(n, {2, 24, 9, 7}, {40, 24, 1, 1}, 1, 0);
         return n.op("relu", {n.op("add", {y, n.input({2, 40, 9, 7})})});
       }},
      {"conv2d, channels without vectors",
       [](Net& n) {
         return conv(n, {1, 5, 9, 9}, {7, 5, 3, 3}, 1, 1);
       }},
      {"conv2d, grouped",
       [](Net& n) {
         return conv(n, {1, 16, 9, 9}, {32, 8, 3, 3}, 1, 1, 2);
       }},
      {"conv2d, depthwise",
       [](Net& n) {
         return n.op("relu", {conv(n, {1, 32, 14, 11}, {32, 1, 3, 3}, 1, 1, 32)});
       }},
      {"conv2d, depthwise strided",
       [](Net& n) {
         return conv(n, {1, 24, 15, 15}, {24, 1, 5, 5}, 2, 2, 24);
       }},
      {"conv1d",
       [](Net& n) {
         return conv(n, {1, 8, 37}, {16, 8, 3}, 1, 1, 1, "conv1d");
       }},
      {"conv3d",
       [](Net& n) {
         return conv(n, {1, 4, 5, 6, 7}, {8, 4, 3, 3, 3}, 1, 1, 1, "conv3d");
       }},
      {"conv2d_transpose",
       [](Net& n) {
         return n.op("conv2d_transpose", {n.input({1, 6, 7, 5}), n.weight({6, 8, 3, 3})}, {{"strides", Dims{2, 2}}, {"pads", Dims{1, 1, 1, 1}}});
       }},
      {"batch_matmul",
       [](Net& n) {
         return n.op("matmul", {n.input({3, 2, 17, 16}), n.input({3, 2, 16, 64})});
       }},
      {"batch_matmul, broadcast batch",
       [](Net& n) {
         return n.op("matmul", {n.input({3, 2, 9, 8}), n.input({2, 8, 32})});
       }},
      {"batch_matmul, odd width",
       [](Net& n) {
         return n.op("matmul", {n.input({4, 13, 8}), n.input({4, 8, 19})});
       }},
      {"batch_matmul with a chain",
       [](Net& n) {
         return n.op("exp", {n.op("matmul", {n.input({2, 5, 12}), n.input({2, 12, 48})})});
       }},
      {"matmul of int32",
       [](Net& n) {
         return n.op("matmul", {n.input({7, 9}, kInt32), n.input({9, 35}, kInt32)});
       }},
  };
  const auto add = [&](std::vector<Case> more) { all.insert(all.end(), more.begin(), more.end()); };
  // One pass over memory: in place, by broadcast, moved about.
  for (const DType t : {kFloat32, kFloat64, kFloat16, kInt8, kInt32, kInt64}) add({unary("neg", {3, 5, 7}, t), unary("abs", {1, 131}, t)});
  for (const char* op : {"exp", "log", "tanh", "sigmoid", "erf", "sqrt", "sin"}) add({unary(op, {5, 67})});
  for (const DType t : {kFloat64, kFloat16}) add({unary("exp", {5, 67}, t), unary("tanh", {129}, t)});
  add({unary("relu", {1}), unary("relu", {}), unary("relu", {64, 64}), unary("not", {9, 33}, kBool)});
  add({
      {"chain",
       [](Net& n) {
         return n.op("relu", {n.op("add", {n.op("mul", {n.input({6, 8, 31}), n.input({6, 8, 31})}), n.input({6, 8, 31})})});
       }},
      {"chain by channel",
       [](Net& n) {
         return n.op("relu", {n.op("add", {n.input({2, 6, 7, 5}), n.weight({1, 6, 1, 1})})});
       }},
      {"chain by row",
       [](Net& n) {
         return n.op("mul", {n.op("add", {n.input({40, 30}), n.weight({30})}), n.input({40, 1})});
       }},
      {"batch_norm",
       [](Net& n) {
         return n.op("batch_norm", {n.input({2, 6, 7, 5}), n.weight({6}), n.weight({6}), n.weight({6}), n.weight({6})}, {{"epsilon", 1.0}});
       }},
      {"where",
       [](Net& n) {
         return n.op("where", {n.input({4, 33}, kBool), n.input({4, 33}), n.input({33})});
       }},
      {"cast",
       [](Net& n) {
         return n.op("cast", {n.input({4, 33}, kInt8)}, {{"to", std::string("float32")}});
       }},
      {"trilu",
       [](Net& n) {
         return n.op("trilu", {n.input({2, 9, 21})}, {{"upper", int64_t{1}}});
       }},
      {"broadcast_to",
       [](Net& n) {
         return n.op("broadcast_to", {n.input({5, 1})}, {{"shape", Dims{3, 5, 35}}});
       }},
      {"reshape",
       [](Net& n) {
         return n.op("reshape", {n.input({6, 10, 14})}, {{"shape", Dims{20, 42}}});
       }},
      {"slice",
       [](Net& n) {
         return n.op("slice", {n.input({9, 50})}, {{"starts", Dims{1, 3}}, {"steps", Dims{2, 1}}, {"sizes", Dims{4, 37}}});
       }},
      {"slice with steps",
       [](Net& n) {
         return n.op("slice", {n.input({9, 80})}, {{"starts", Dims{8, 1}}, {"steps", Dims{-1, 2}}, {"sizes", Dims{9, 38}}});
       }},
      {"slice backwards",
       [](Net& n) {
         return n.op("slice", {n.input({3, 50})}, {{"starts", Dims{0, 49}}, {"steps", Dims{1, -1}}, {"sizes", Dims{3, 50}}});
       }},
      {"concat",
       [](Net& n) {
         return n.op("concat", {n.input({2, 3, 5, 7}), n.input({2, 4, 5, 7}), n.input({2, 1, 5, 7})}, {{"axis", int64_t{1}}});
       }},
      {"concat of columns",
       [](Net& n) {
         return n.op("concat", {n.input({6, 17}), n.input({6, 20})}, {{"axis", int64_t{1}}});
       }},
      {"pad",
       [](Net& n) {
         return n.op("pad", {n.input({2, 3, 9, 10})}, {{"pads", Dims{0, 0, 1, 2, 0, 0, 3, 1}}});
       }},
      {"pad by reflection",
       [](Net& n) {
         return n.op("pad", {n.input({3, 9, 20})}, {{"pads", Dims{0, 2, 3, 0, 1, 4}}, {"mode", std::string("reflect")}});
       }},
      {"tile",
       [](Net& n) {
         return n.op("tile", {n.input({3, 7})}, {{"repeats", Dims{2, 5}}});
       }},
      {"gather of rows",
       [](Net& n) {
         return n.op("gather", {n.input({20, 36}), n.input({4, 5}, kInt64)}, {{"axis", int64_t{0}}});
       }},
      {"gather of columns",
       [](Net& n) {
         return n.op("gather", {n.input({12, 20}), n.input({17}, kInt64)}, {{"axis", int64_t{1}}});
       }},
      {"transpose and relu",
       [](Net& n) {
         return n.op("relu", {n.op("transpose", {n.input({35, 40})})});
       }},
  });
  for (const DType t : {kFloat32, kFloat64, kFloat16, kInt8}) add({transpose({48, 64}, {1, 0}, t), transpose({37, 53}, {1, 0}, t)});
  add({transpose({2, 19, 5, 6}, {0, 2, 3, 1}), transpose({2, 5, 6, 32}, {0, 3, 1, 2}), transpose({3, 4, 5, 33}, {2, 0, 1, 3}), transpose({2, 3, 17}, {0, 2, 1}),
       transpose({1, 40, 3, 64}, {0, 2, 1, 3}), transpose({16, 3, 20}, {2, 1, 0})});
  for (const auto& [depth, keys, panel] : {std::tuple<int64_t, int64_t, int64_t>{24, 40, 64}, {64, 130, 32}, {7, 19, 16}}) {
    Case c = transpose({2, 3, keys, depth}, {0, 1, 3, 2});
    c.name += " into panels of " + std::to_string(panel);
    c.layouts = {{-1, {{0, 0}, {1, 0}, {3, 0}, {2, 0}, {3, panel}}}};
    add({c});
  }
  // Positions along two axes that lie in one: vectors stay within a row of them.
  for (const int64_t width : {14, 28, 7, 5, 3}) {
    add({{"two positions in one, rows of " + std::to_string(width), [width](Net& n) {
            const int x = n.op("reshape", {n.input({70, 2 * width})}, {{"shape", Dims{70, 2, width}}});
            const int sum = n.op("add", {n.op("add", {x, n.input({70, 2, 1})}), n.input({70, 1, width})});
            return n.op("reshape", {sum}, {{"shape", Dims{70, 2 * width}}});
          }}});
  }
  // Reductions.
  for (const Dims& axes : {Dims{2}, Dims{1}, Dims{0}, Dims{0, 1, 2}, Dims{1, 2}, Dims{0, 2}}) add({reduce("reduce_sum", {5, 12, 70}, axes)});
  for (const DType t : {kFloat64, kFloat16, kInt8, kInt32}) add({reduce("reduce_sum", {6, 37}, {1}, t), reduce("reduce_max", {37, 6}, {0}, t)});
  for (const char* op : {"reduce_prod", "reduce_max", "reduce_min", "reduce_mean", "reduce_l1", "reduce_l2", "reduce_sum_square", "reduce_log_sum_exp"})
    add({reduce(op, {4, 133}, {1}, kFloat32, 0), reduce(op, {33, 20}, {0})});
  add({reduce("reduce_sum", {3, 1, 200}, {2}), reduce("reduce_sum", {7000}, {0}), reduce("reduce_mean", {2, 16, 7, 7}, {2, 3}),
       reduce("reduce_max", {1, 256, 256}, {1, 2})});
  // Long ones to a single result: in parts.
  add({reduce("reduce_sum", {1500, 1433}, {0, 1}), reduce("reduce_mean", {2100001}, {0}, kFloat32, 0), reduce("reduce_max", {1, 40, 60000}, {1, 2})});
  add({along("argmax", {7, 45}, 1), along("argmin", {45, 18}, 0), along("cumsum", {5, 33}, 1)});
  // Rows added up: whole rows at a time, and in parts where there is one row of results.
  add({reduce("reduce_sum", {40, 100}, {0}), reduce("reduce_mean", {3, 30, 70}, {1}), reduce("reduce_max", {2, 11, 13, 37}, {1, 2}),
       reduce("reduce_sum", {16000, 133}, {0}), reduce("reduce_sum", {2100, 3000}, {0})});
  // Blocks of channels on one side of the kernel.
  for (const int64_t block : {4, 8, 16})
    for (const int stage : {0, 1})
      add({{(stage == 0 ? "from blocks of " : "to blocks of ") + std::to_string(block),
            [](Net& n) {
              return n.op("relu", {n.input({2, 32, 5, 9})});
            },
            {in_blocks(stage, 4, block)}}});
  // Last blocks in part, and what moves along them.
  for (const int64_t block : {4, 8, 16}) {
    add({{"from and to last blocks of " + std::to_string(block),
          [](Net& n) {
            return n.op("sigmoid", {n.op("add", {n.input({2, 29, 5, 9}), n.weight({29, 1, 1})})});
          },
          {in_blocks(0, 4, block), in_blocks(-1, 4, block)}},
         {"from last blocks of " + std::to_string(block),
          [](Net& n) {
            return n.op("exp", {n.input({2, 37, 3, 18})});
          },
          {in_blocks(0, 4, block)}},
         {"to last blocks of " + std::to_string(block),
          [](Net& n) {
            return n.op("exp", {n.input({2, 37, 3, 18})});
          },
          {in_blocks(-1, 4, block)}},
         {"slice inside blocks of " + std::to_string(block),
          [](Net& n) {
            return n.op("slice", {n.input({1, 58, 3, 5})}, {{"starts", Dims{0, 29, 0, 0}}, {"steps", Dims{1, 1, 1, 1}}, {"sizes", Dims{1, 29, 3, 5}}});
          },
          {in_blocks(0, 4, block), in_blocks(-1, 4, block)}},
         {"concat inside blocks of " + std::to_string(block),
          [](Net& n) {
            return n.op("concat", {n.input({1, 21, 3, 5}), n.input({1, 10, 3, 5}), n.input({1, 30, 3, 5})}, {{"axis", int64_t{1}}});
          },
          {in_blocks(0, 4, block), in_blocks(1, 4, block), in_blocks(2, 4, block), in_blocks(-1, 4, block)}},
         {"shuffle of blocks of " + std::to_string(block),
          [](Net& n) {
            const int both = n.op("concat", {n.input({1, 29, 3, 5}), n.input({1, 29, 3, 5})}, {{"axis", int64_t{1}}});
            const int turned = n.op("transpose", {n.op("reshape", {both}, {{"shape", Dims{1, 2, 29, 3, 5}}})}, {{"perm", Dims{0, 2, 1, 3, 4}}});
            return n.op("reshape", {turned}, {{"shape", Dims{1, 58, 3, 5}}});
          },
          {in_blocks(0, 4, block), in_blocks(1, 4, block), in_blocks(-1, 4, block)}}});
    for (const int64_t channels : {32, 29}) {
      Case c = reduce("reduce_mean", {2, channels, 5, 7}, {2, 3});
      c.name += " of " + std::to_string(channels) + " in blocks of " + std::to_string(block) + " to a row";
      c.layouts = {in_blocks(0, 4, block)};
      add({c});
    }
    add({{"what a pool takes away, in blocks of " + std::to_string(block),
          [](Net& n) {
            const int x = n.input({1, 32, 9, 7});
            const int mean = n.op("avg_pool2d", {x}, {{"kernel", Dims(2, 3)}, {"pads", Dims(4, 1)}});
            return n.op("add", {x, n.op("mul", {n.op("sub", {mean, x}), n.weight({1, 32, 1, 1})})});
          },
          {in_blocks(0, 4, block), in_blocks(-1, 4, block)}}});
    for (Case c : {pool("max_pool2d", {2, 29, 11, 13}, 3, 2, 1), pool("avg_pool2d", {1, 58, 7, 7}, 7, 1, 0), pool("avg_pool2d", {1, 21, 35, 8}, 3, 1, 1)}) {
      c.name += " in last blocks of " + std::to_string(block);
      c.layouts = {in_blocks(0, 4, block), in_blocks(-1, 4, block)};
      add({c});
    }
  }
  add({{"conv2d, depthwise, last block in part",
        [](Net& n) {
          return n.op("relu", {conv(n, {1, 58, 9, 7}, {58, 1, 3, 3}, 1, 1, 58)});
        }},
       {"conv2d, depthwise strided, less than a block", [](Net& n) {
          return n.op("relu", {conv(n, {2, 11, 9, 7}, {11, 1, 5, 5}, 2, 2, 11)});
        }}});
  add({{"from blocks with a residual",
        [](Net& n) {
          return n.op("add", {n.op("relu", {n.input({1, 48, 6, 11})}), n.input({1, 48, 6, 11})});
        },
        {in_blocks(0, 4, 16)}},
       {"channels in blocks, counted by two dimensions",
        [](Net& n) {
          return n.op("reshape", {n.input({1, 42, 37})}, {{"shape", Dims{2, 21, 37}}});
        },
        {in_blocks(0, 3, 16)}},
       {"channels in blocks, counted by two dimensions, neither of a block's length",
        [](Net& n) {
          return n.op("reshape", {n.input({2, 40, 6, 7})}, {{"shape", Dims{2, 8, 5, 6, 7}}});
        },
        {in_blocks(0, 4, 16)}},
       {"channels in blocks, counted by three dimensions, short rows",
        [](Net& n) {
          return n.op("relu", {n.op("reshape", {n.input({1, 48, 5, 5})}, {{"shape", Dims{1, 2, 12, 2, 5, 5}}})});
        },
        {in_blocks(0, 4, 16)}},
       {"a part of the channels of blocks",
        [](Net& n) {
          return n.op("relu", {n.op("slice", {n.input({1, 48, 5, 7})}, {{"starts", Dims{0, 5, 0, 0}}, {"sizes", Dims{1, 38, 5, 7}}})});
        },
        {in_blocks(0, 4, 16)}},
       {"channels normalised in blocks", image_norm({2, 37, 6, 9}, 37), {in_blocks(0, 4, 16), in_blocks(-1, 4, 16)}},
       {"groups normalised across blocks", image_norm({1, 40, 6, 9}, 4), {in_blocks(0, 4, 16), in_blocks(-1, 4, 16)}},
       {"groups normalised from blocks", image_norm({1, 48, 5, 5}, 1), {in_blocks(0, 4, 16)}},
       {"groups normalised in rows", image_norm({2, 12, 9, 37}, 3)},
       {"a long group normalised in rows", image_norm({1, 24, 48, 160}, 1)},
       {"resized", resized({1, 3, 9, 37}, 7, 45, 2)},
       {"resized, rows first", resized({2, 3, 6, 21}, 19, 45, 2, true)},
       {"resized from blocks, rows first", resized({1, 37, 6, 9}, 17, 35, 2, true), {in_blocks(0, 4, 16)}},
       {"resized, few columns", resized({2, 5, 6, 3}, 9, 5, 4)},
       {"resized from blocks", resized({1, 37, 6, 9}, 8, 35, 2), {in_blocks(0, 4, 16)}},
       {"resized between blocks", resized({1, 32, 6, 9}, 8, 21, 2), {in_blocks(0, 4, 16), in_blocks(-1, 4, 16)}},
       {"a mean of what lies in blocks, dimensions of one behind it",
        [](Net& n) {
          return n.op("reduce_mean", {n.op("gelu", {n.input({2, 40, 6, 7})})}, {{"axes", Dims{2, 3}}, {"keepdims", int64_t{1}}});
        },
        {in_blocks(0, 4, 16)}},
       {"heads joined",
        [](Net& n) {
          return n.op("reshape", {n.op("transpose", {n.input({1, 8, 12, 50})}, {{"perm", Dims{0, 3, 1, 2}}})}, {{"shape", Dims{50, 96}}});
        }},
       {"heads of 64 channels to blocks",
        [](Net& n) {
          return n.op("reshape", {n.op("transpose", {n.input({1, 3, 42, 64})}, {{"perm", Dims{0, 1, 3, 2}}})}, {{"shape", Dims{1, 192, 6, 7}}});
        },
        {in_blocks(-1, 4, 16)}},
       {"from blocks, short rows",
        [](Net& n) {
          return n.op("relu", {n.input({1, 16, 1, 3})});
        },
        {in_blocks(0, 4, 16)}}});
  // Windows.
  for (const DType t : {kFloat32, kInt8, kFloat64}) add({pool("max_pool2d", {1, 3, 19, 23}, 3, 2, 1, t)});
  add({pool("max_pool2d", {1, 2, 13, 131}, 3, 2, 1), pool("avg_pool2d", {1, 2, 13, 131}, 3, 3, 1), pool("max_pool2d", {2, 16, 12, 34}, 2, 2, 0),
       pool("avg_pool2d", {1, 5, 14, 20}, 3, 1, 1), pool("avg_pool2d", {1, 4, 9, 9}, 2, 2, 0), pool("lp_pool2d", {1, 4, 9, 40}, 2, 1, 0),
       pool("max_pool1d", {2, 3, 50}, 3, 3, 0), pool("max_pool3d", {1, 2, 6, 7, 18}, 2, 1, 0)});
  // Products without a template: tiles of registers that do not divide rows or columns.
  for (const auto& [m, n] : {std::pair<int64_t, int64_t>{37, 37}, {13, 70}, {4, 197}, {61, 17}, {1, 53}})
    for (const int64_t heads : {1, 9})
      add({{fmt::format("matmul of {} stacks, {} by {}", heads, m, n), [=](Net& n2) {
              return n2.op("relu", {n2.op("matmul", {n2.input({heads, m, 20}), n2.input({heads, 20, n})})});
            }}});
  // Windows over blocks of channels.
  for (const int64_t block : {4, 16})
    for (Case c : {pool("max_pool2d", {2, 32, 11, 13}, 3, 2, 1), pool("avg_pool2d", {1, 32, 17, 17}, 3, 1, 1), pool("avg_pool2d", {1, 64, 7, 7}, 7, 1, 0),
                   pool("avg_pool2d", {1, 16, 35, 8}, 3, 1, 1), pool("lp_pool2d", {1, 16, 6, 10}, 2, 2, 0), pool("max_pool2d", {1, 16, 5, 3}, 2, 1, 0),
                   pool("avg_pool2d", {1, 16, 9, 9}, 2, 2, 1)}) {
      c.name += " in blocks of " + std::to_string(block);
      c.layouts = {in_blocks(0, 4, block), in_blocks(-1, 4, block)};
      add({c});
    }
  add({{"lrn", [](Net& n) { return n.op("lrn", {n.input({1, 9, 5, 6})}, {{"size", int64_t{5}}}); }}});
  // Rows that are read several times.
  for (const char* op : {"softmax", "log_softmax"})
    add({along(op, {5, 130}, 1), along(op, {3, 7, 16}, 2), along(op, {2, 19, 5, 7}, 1), along(op, {33, 18}, 0), along(op, {40}, 0), along(op, {2, 3, 1}, 2)});
  for (const DType t : {kFloat64, kFloat16}) add({along("softmax", {5, 70}, 1, t), layer_norm({5, 70}, 1, t)});
  add({layer_norm({6, 131}, 1), layer_norm({2, 9, 32}, 2), layer_norm({4, 5, 17}, 1), layer_norm({96}, 0)});
  add({{"rms_norm",
        [](Net& n) {
          return n.op("rms_norm", {n.input({6, 131}), n.weight({131})});
        }},
       {"rms_norm over two dimensions",
        [](Net& n) {
          return n.op("rms_norm", {n.input({3, 5, 33}), n.weight({33})}, {{"axis", int64_t{1}}});
        }},
       {"instance_norm",
        [](Net& n) {
          return n.op("instance_norm", {n.input({2, 6, 5, 13}), n.weight({6}), n.weight({6})});
        }},
       {"group_norm", [](Net& n) {
          return n.op("instance_norm", {n.input({2, 6, 5, 13}), n.weight({6}), n.weight({6})}, {{"groups", int64_t{2}}});
        }}});
  return all;
}

}  // namespace

/// Default schedules against the interpreter of the bare expressions: lowered, and compiled for two register widths.
class DefaultScheduleTest : public QObject {
  Q_OBJECT
 private Q_SLOTS:
  void fallback_points_are_valid();
  void blocks_on_both_sides();
  void a_column_is_no_transpose();
  void joined_rows_are_transposed();
  void blocks_become_rows_together();
  void rows_that_are_looked_up_are_made_once();
  void vectors_hold_whole_runs();
  void few_rows_are_cut_evenly();
  void keep_results_data();
  void keep_results();
};

void DefaultScheduleTest::fallback_points_are_valid() {
  int templates = 0;
  for (const char* name : {"llvm -mcpu=x86-64 -num-cores=1", "llvm -mcpu=x86-64-v3 -num-cores=3", "llvm -mcpu=znver4 -num-cores=16"}) {
    const Target target = parse_target(name).value();
    for (const Case& c : cases()) {
      const te::DagPtr dag = dag_of(c.make);
      bool first = true;
      for (const space::Template* t : space::alternatives(*dag, target)) {
        if (t->name == std::string("reductions.cpu")) continue;  // its points are searched; untuned, the rule adopts the layouts around it
        ++templates;
        const space::ConfigSpace space = t->space(*dag, target);
        const space::ConfigEntity point = t->fallback(*dag, target);
        QVERIFY2(t->fallback(*dag, target).index() == point.index(), c.name.c_str());
        QVERIFY2(space::fallback(dag, target).has_value(), c.name.c_str());
        if (!std::exchange(first, false) && point.index() < 0) continue;  // an earlier one serves better
        QVERIFY2(point.index() >= 0 && point.index() < space.size(), c.name.c_str());
        QVERIFY2(space.filtered_reason(point).empty(), c.name.c_str());
      }
    }
  }
  QVERIFY(templates >= 30);
}

/// What adds nothing up needs no array for sums; tiles of sums are whole where the blocks can be shared out evenly.
void DefaultScheduleTest::blocks_on_both_sides() {
  const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
  const auto by_rule = [&](const Make& make) {
    const te::DagPtr dag = dag_of(make);
    return space::rule_schedule(dag, target, {in_blocks(0, 4, 8), in_blocks(dag->outputs.front(), 4, 8)}).value();
  };
  const schedule::Schedule relu = by_rule([](Net& n) { return n.op("relu", {n.input({2, 32, 5, 9})}); });
  QCOMPARE(relu.stages().size(), relu.dag()->ops.size());
  const std::string mean = schedule::print_steps(by_rule(pool("avg_pool2d", {1, 24, 7, 7}, 7, 1, 0).make));
  QVERIFY2(mean.find("factors=[3, 8]") != std::string::npos, mean.c_str());
}

/// A column of one element has neighbours nowhere: reads along another axis are no transposition of the two.
void DefaultScheduleTest::a_column_is_no_transpose() {
  const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
  const auto by_rule = [&](int64_t columns) {
    return space::rule_schedule(
               dag_of([&](Net& n) {
                 const int x = n.op("slice", {n.input({64, 48, 40})}, {{"starts", Dims{0, 0, 5}}, {"sizes", Dims{64, 48, columns}}, {"steps", Dims{1, 1, 1}}});
                 return n.op("transpose", {x}, {{"perm", Dims{2, 1, 0}}});
               }),
               target, {})
        .value();
  };
  for (const int64_t columns : {1, 2}) {
    const std::string steps = schedule::print_steps(by_rule(columns));
    QVERIFY2((steps.find("unroll") != std::string::npos) == (columns > 1), steps.c_str());  // rows of a square block
  }
}

/// Heads and their channels, which a reshape joins, are the rows of one transposition.
void DefaultScheduleTest::joined_rows_are_transposed() {
  const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
  const Make joined = [](Net& n) {
    return n.op("reshape", {n.op("transpose", {n.input({1, 8, 12, 64})}, {{"perm", Dims{0, 3, 1, 2}}})}, {{"shape", Dims{64, 96}}});
  };
  const std::string steps = schedule::print_steps(space::rule_schedule(dag_of(joined), target, {}).value());
  QVERIFY2(steps.find("unroll") != std::string::npos, steps.c_str());  // rows of a square block
}

/// As images of groups of channels are, for which a block holds several or parts of them.
void DefaultScheduleTest::blocks_become_rows_together() {
  const Target target = parse_target("llvm -mcpu=x86-64-v3 -num-cores=1").value();
  for (const Dims& shape : {Dims{1, 16, 2, 9, 9}, Dims{1, 2, 16, 9, 9}, Dims{1, 32, 3, 27}, Dims{4, 2, 4, 81}}) {
    const te::DagPtr dag = dag_of([&](Net& n) { return n.op("reshape", {n.input({1, 32, 9, 9})}, {{"shape", shape}}); });
    const std::string steps = schedule::print_steps(space::rule_schedule(dag, target, {in_blocks(0, 4, 8)}).value());
    QVERIFY2(steps.find("unroll") != std::string::npos, steps.c_str());  // a block's channels, each a row
  }
}

void DefaultScheduleTest::rows_that_are_looked_up_are_made_once() {
  const Target target = parse_target("llvm -mcpu=znver4 -num-cores=2").value();
  const te::DagPtr dag = dag_of(resized({1, 32, 16, 16}, 64, 64, 2));
  const auto steps = [&](const std::vector<schedule::LayoutStep>& layouts) {
    return schedule::print_steps(space::rule_schedule(dag, target, layouts).value());
  };
  const auto count = [](const std::string& text, const std::string& word) {
    int n = 0;
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
    return n;
  };
  const std::string rows = steps({}), from_blocks = steps({in_blocks(0, 4, 16)}), blocks = steps({in_blocks(0, 4, 16), in_blocks(dag->outputs.front(), 4, 16)});
  QVERIFY2(count(rows, "compute_at") == 1 && count(rows, "cache_write") == 0, rows.c_str());
  QVERIFY2(count(from_blocks, "compute_at") == 2 && count(from_blocks, "cache_write") == 1, from_blocks.c_str());
  QVERIFY2(count(blocks, "compute_at") == 0, blocks.c_str());
  // Elements that are picked along rows, of which each is then read several times; not so where there are fewer rows in the end.
  for (const auto& [height, kept] : {std::pair(40, 1), std::pair(9, 0)}) {
    const std::string picked = schedule::print_steps(space::rule_schedule(dag_of(resized({1, 32, 16, 16}, height, 64, 2, true)), target, {}).value());
    QVERIFY2(count(picked, "compute_at") == kept, picked.c_str());
  }
}

/// Of an image made three times as wide: four elements, three times each, rather than five and a third.
void DefaultScheduleTest::vectors_hold_whole_runs() {
  const Make wider = [](Net& n) {
    const int repeated = n.op("broadcast_to", {n.op("reshape", {n.input({8, 48})}, {{"shape", Dims{8, 48, 1}}})}, {{"shape", Dims{8, 48, 3}}});
    return n.op("reshape", {repeated}, {{"shape", Dims{8, 144}}});
  };
  const Target target = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
  const std::string steps = schedule::print_steps(space::rule_schedule(dag_of(wider), target, {}).value());
  QVERIFY2(steps.find("12]") != std::string::npos, steps.c_str());
  const std::string problem = problem_by_rule({"three times as wide", wider});
  QVERIFY2(problem.empty(), problem.c_str());
}

/// A prime number of vectors: no block is left with next to nothing.
void DefaultScheduleTest::few_rows_are_cut_evenly() {
  const Target target = parse_target("llvm -mcpu=znver4 -num-cores=1").value();
  for (const auto& [rows, block] : {std::pair<int64_t, int64_t>{4, 1007}, {1, 336}, {7, 1510}}) {  // in 3, 9 and 2 blocks
    const Make made = [&](Net& n) { return n.op("broadcast_to", {n.input({1, 48300})}, {{"shape", Dims{rows, 48300}}}); };
    const std::string steps = schedule::print_steps(space::rule_schedule(dag_of(made), target, {}).value());
    QVERIFY2(steps.find(fmt::format("factors=[{}, 16]", block)) != std::string::npos, steps.c_str());
  }
}

void DefaultScheduleTest::keep_results_data() {
  QTest::addColumn<int>("number");
  int k = 0;
  for (const Case& c : cases()) QTest::newRow(c.name.c_str()) << k++;
}

void DefaultScheduleTest::keep_results() {
  QFETCH(int, number);
  const std::string problem = problem_by_rule(cases()[static_cast<size_t>(number)]);
  QVERIFY2(problem.empty(), problem.c_str());
}

QTEST_APPLESS_MAIN(DefaultScheduleTest)
#include "default_schedule_test.moc"
