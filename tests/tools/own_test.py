#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw` with computations of one's own: created, checked, tuned, built as C code that runs, and gone on with.

Usage: own_test.py TW [TEST...]
"""
import os
import shutil
import subprocess
import sys
import unittest

from cli_case import CliCase, tw, tw_json

MAIN = r"""
#include <math.h>
#include <stdio.h>
#include "k.h"
static float a[24 * 16], b[16 * 32], c[24 * 32];
int main(void) {
  for (int i = 0; i < 24 * 16; ++i) a[i] = (float)(i % 7) - 3;
  for (int i = 0; i < 16 * 32; ++i) b[i] = (float)(i % 5) - 2;
  struct tw_instance* instance = k_create(2);
  struct k_inputs in = {a, b};
  struct k_outputs out = {c};
  if (k_run(instance, &in, &out) != 0) return 1;
  k_destroy(instance);
  for (int y = 0; y < 24; ++y)
    for (int x = 0; x < 32; ++x) {
      float want = 0;
      for (int k = 0; k < 16; ++k) want += a[y * 16 + k] * b[k * 32 + x];
      if (fabsf(want - c[y * 32 + x]) > 1e-3f) return 2;
    }
  puts("right");
  return 0;
}
"""


class OwnOperators(CliCase):
    def create(self, name="k.te", *more):
        return tw_json("task", "create", "matmul", "--args", "24,32,16", "-o", self.path(name), *more)

    def test_bundled_operators(self):
        names = [op["name"] for op in tw_json("task", "list")["operators"]]
        for name in ("matmul", "conv2d", "depthwise", "batch_matmul", "softmax", "stencil", "prefix_sum", "matmul_halide"):
            self.assertIn(name, names)
        for op in tw_json("task", "list")["operators"]:
            self.assertTrue(op["summary"] and op["parameters"], op)
            made = tw_json("task", "create", op["name"], "-o", self.path(op["name"] + ".te"))
            self.assertEqual(made["space"], "own")
            self.assertGreater(made["space_size"], 1)
        self.assertIn("define_split(tile_y", tw("task", "show", "matmul", check=0)[1])

    def test_created_tuned_and_built(self):
        made = self.create("k.te", "--db", self.path("w.twdb"))
        self.assertEqual(made["flops"], 2 * 24 * 32 * 16)
        self.assertEqual([k["knob"] for k in made["knobs"]], ["tile_y", "tile_x", "unroll_steps"])
        self.assertEqual([t["key"] for t in tw_json("tasks", self.path("k.te"))["tasks"]], [made["key"]])
        self.assertIn("rows of a tile", tw("tasks", self.path("k.te"), "--space", check=0)[1])
        tuned = tw_json("tune", self.path("k.te"), "--trials", "12", "--db", self.path("w.twdb"), "--network-finals", "never")
        self.assertEqual(tuned["trials"], 12)
        best = tuned["tasks"][0]
        self.assertEqual(best["key"], made["key"])
        self.assertGreater(best["best_s"], 0)
        again = tw_json("tune", self.path("k.te"), "--trials", "16", "--db", self.path("w.twdb"), "--network-finals", "never", "--resume")
        self.assertEqual(again["session"], tuned["session"])
        built = tw_json("build", self.path("k.te"), "--db", self.path("w.twdb"), "-o", self.path("k.o"))
        self.assertTrue(built["kernels"][0]["record"])
        for name in ("k.o", "k.h", "k_data.o", "tilewright_runtime.c"):
            self.assertIn(self.path(name), built["files"])
        compiler = shutil.which("cc")
        if not compiler:
            self.skipTest("no C compiler")
        self.write("main.c", MAIN.encode())
        files = [self.path(f) for f in ("main.c", "k.o", "k_data.o", "tilewright_runtime.c")]
        subprocess.run([compiler, "-O1", *files, "-o", self.path("main"), "-lpthread", "-lm"], check=True, cwd=self.folder)
        self.assertEqual(subprocess.run([self.path("main")], check=True, capture_output=True, text=True).stdout, "right\n")

    def test_a_network_of_one_task_runs(self):
        self.create()
        tw("compile", self.path("k.te"), "-o", self.path("k.twx"), check=0)
        ran = tw_json("run", self.path("k.twx"), "--random-input", "--repeat", "1", "--check")
        self.assertTrue(ran["check"]["passed"], ran)

    def test_the_task_is_what_the_words_say(self):
        first = self.create()
        text = self.read(self.path("k.te")).decode()
        self.write("noted.te", ("# another comment\n" + text.replace("reorder(yo, xo", "reorder( yo,  xo")).encode())
        self.write("other.te", text.replace("vectorize(xi)", "unroll(xi)").encode())
        self.assertEqual(tw_json("task", "create", self.path("noted.te"))["key"], first["key"])
        self.assertNotEqual(tw_json("task", "create", self.path("other.te"))["key"], first["key"])

    def test_mistakes_are_said_in_place(self):
        self.create()
        text = self.read(self.path("k.te")).decode()
        bad = self.write("bad.te", text.replace("vectorize(xi)", "vectorize(xz)").encode())
        line = text[: text.index("vectorize(xi)")].count("\n") + 1
        for command in (["task", "create", bad], ["tasks", bad], ["tune", bad], ["build", bad, "-o", self.path("x.o")]):
            self.assert_sentence(3, *command, has=f"bad.te, line {line}, column 11")
        self.assertFalse(os.path.exists(self.path("x.o")))
        outside = self.write("outside.te", b"A: float32[4] = placeholder()\nB: float32[4] = compute(i)\n    A[i + 1]\noutputs(B)\n")
        self.assert_sentence(3, "tasks", outside, has="Expected index 1 of 'A' from 0 to 3")
        self.assert_sentence(3, "tasks", self.path("missing.te"))
        self.assert_sentence(2, "task", "create", "no_such_operator")
        self.assert_sentence(2, "tune", "matmul", has="tw task create matmul")
        self.assert_sentence(2, "task", "show", "no_such_operator")
        self.assert_sentence(2, "task", "create", "matmul", "--args", "1,2,3,4", "-o", self.path("many.te"), has="Expected at most 3 arguments")
        self.assert_sentence(2, "task", "create", "matmul", "-o", self.path("k.te"))  # a text that may be somebody's work
        self.assertEqual(self.read(self.path("k.te")).decode(), text)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
