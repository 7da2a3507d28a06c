#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`tw lesson`: lessons as files, and what learners handed in.

Usage: lessons_test.py TW [TEST...]
"""
import json
import sys
import unittest

from cli_case import CliCase, tw, tw_json

FRONT = "---\nlesson: mine\ntitle: Mine\nsummary: One of my own.\n---\n"


class Lessons(CliCase):
    def lesson(self, steps, name="mine.md"):
        return self.write(name, (FRONT + steps).encode())

    def test_every_lesson_that_comes_along_is_sound(self):
        for language in ("en", "zh-CN"):
            lessons = tw_json("lesson", "list", "--language", language)["lessons"]
            self.assertTrue(lessons)
            found = tw_json("lesson", "check", *(lesson["file"] for lesson in lessons))["lessons"]
            self.assertEqual([f["problems"] for f in found], [[]] * len(lessons))

    def test_a_lesson_of_ones_own(self):
        file = self.lesson("## one: First\nLook.\n```do\nopen network mlp tiny\n```\n```check\nview code\n```\n```show\nview code\n```\n")
        self.assertIn("lesson 'mine', 1 steps", tw("lesson", "check", file, check=0)[1])
        shown = tw_json("lesson", "show", file)
        self.assertEqual((shown["lesson"], shown["steps"][0]["do"], shown["steps"][0]["check"]), ("mine", ["open network mlp tiny"], ["view code"]))
        listed = tw_json("lesson", "list", "--folder", self.folder)["lessons"]
        self.assertEqual([x["lesson"] for x in listed], ["mine"])
        self.assertIn("open network mlp tiny", tw("lesson", "show", file, "--step", "one", check=0)[1])
        self.assert_sentence(2, "lesson", "show", file, "--step", "two", has="two")
        self.assert_sentence(2, "lesson", "show", "nothing", has="nothing")

    def test_what_is_wrong_is_said_with_its_place(self):
        file = self.lesson("## one: First\n```do\nview kitchen\n```\n")
        self.assert_sentence(3, "lesson", "check", file, has="line 8, column 6")
        file = self.lesson("## one: First\n```do\nopen network mlq\n```\n")
        self.assert_sentence(3, "lesson", "check", file, has="found 'mlq' (at " + file + ", line 8, column 1)")
        self.assert_sentence(3, "lesson", "check", self.path("none.md"), has="none.md")
        text = "## one: First\n```exercise\nx\n```\n```solution\nx\n```\n```show\nsolve\n```\n"
        self.assert_sentence(3, "lesson", "check", self.lesson(text), has="solution of step 'one' is wrong")
        self.assert_sentence(3, "lesson", "list", "--folder", self.path("nowhere"), has="nowhere")
        self.write("bytes.md", bytes(range(256)))
        self.assert_sentence(3, "lesson", "check", self.path("bytes.md"), has="begin with a line '---'")

    def test_collected(self):
        def handed(learner, *states):
            steps = [{"step": f"s{i}", "state": s, "hints": 1, "wrong": 2, "answer": "=1", "when_s": 5} for i, s in enumerate(states)]
            return json.dumps({"tilewright_lessons": 1, "learner": learner, "lessons": [{"lesson": "schedule", "title": "T", "steps": steps}]}).encode()

        self.write("a.json", handed("A", "done", "skipped", "done"))
        self.write("b.json", handed("", "shown", "open"))
        rows = tw_json("lesson", "collect", self.folder, "--csv", self.path("t.csv"))["lessons"]
        self.assertEqual([(r["learner"], r["done"], r["shown"], r["skipped"], r["open"], r["hints"], r["wrong"]) for r in rows],
                         [("A", 2, 0, 1, 0, 3, 6), ("b", 0, 1, 0, 1, 2, 4)])
        table = self.read(self.path("t.csv")).decode().splitlines()
        self.assertEqual(len(table), 1 + 5)
        self.assertEqual(table[1], '"A","schedule","s0",done,1,2,"\'=1",5')
        self.write("c.json", b"{}")
        found, out, err = tw("lesson", "collect", self.folder)
        self.assertEqual(found, 3)
        self.assertIn("c.json", err)
        self.assertIn("A", out)  # the others are there all the same
        self.assert_sentence(3, "lesson", "collect", self.path("nowhere"), has="nowhere")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
