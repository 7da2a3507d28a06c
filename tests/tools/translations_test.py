#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every text of the lessons' panel has its translation, and none is left of texts that are gone.
Usage: translations_test.py SOURCE_FOLDER LUPDATE"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

SOURCE, LUPDATE = (os.path.abspath(a) for a in sys.argv[1:3])
FILES = [f"app/{name}.{ending}" for name in ("views/lessons_view", "services/lesson_service", "lesson_desk") for ending in ("h", "cpp")]
STORED = os.path.join(SOURCE, "resources/translations/lessons_zh-CN.ts")


def messages(path):
    """(context, source, comment) -> translation; None: unfinished or no longer in the sources."""
    found = {}
    for context in xml.etree.ElementTree.parse(path).getroot().iter("context"):
        for m in context.iter("message"):
            t = m.find("translation")
            text = "".join(t.itertext()).strip()
            found[(context.findtext("name"), m.findtext("source"), m.findtext("comment"))] = text if text and not t.get("type") else None
    return found


class Translations(unittest.TestCase):
    def updated(self, change=lambda text: text):
        with tempfile.TemporaryDirectory() as folder:
            for f in FILES:
                os.makedirs(os.path.dirname(os.path.join(folder, f)), exist_ok=True)
                with open(os.path.join(SOURCE, f), encoding="utf-8") as source, open(os.path.join(folder, f), "w", encoding="utf-8") as copy:
                    copy.write(change(source.read()))
            ts = os.path.join(folder, "t.ts")
            shutil.copy(STORED, ts)
            subprocess.run([LUPDATE, "-silent", "-no-ui-lines", "-locations", "none", "-I", ".", *FILES, "-ts", ts], cwd=folder, check=True, capture_output=True)
            return messages(ts)

    def test_complete(self):
        missing = [key for key, text in self.updated().items() if text is None]
        self.assertEqual(missing, [], "run lupdate as this test does, on resources/translations/lessons_zh-CN.ts")

    def test_placeholders(self):
        for (_, source, _), text in messages(STORED).items():
            self.assertEqual(sorted(re.findall(r"%[0-9n]", source)), sorted(re.findall(r"%[0-9n]", text or "")), source)

    def test_changed_text_is_found(self):
        missing = [source for (_, source, _), text in self.updated(lambda t: t.replace('tr("Leave")', 'tr("Depart")')).items() if text is None]
        self.assertEqual(sorted(missing), ["Depart", "Leave"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
