#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pages that `tw` writes, opened in a browser without a display: plots are seen, and nothing is asked for but the page itself.

Usage: pages_test.py TW [TEST...]

Skipped where there is no Chromium; what the pages' text may not hold is tested without one, where they are made.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import unittest
import zlib

from cli_case import CliCase, tw

SHIPPED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "resources", "campaigns")
BROWSER = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)


def pixels(png):
    """How often each colour is in a picture of 8 bits a channel without interlacing."""
    at, data, width, channels = 8, b"", 0, 0
    while at < len(png):
        length, kind = struct.unpack(">I4s", png[at:at + 8])
        if kind == b"IHDR":
            width, _, depth, colour = struct.unpack(">IIBB", png[at + 8:at + 18])
            if depth != 8 or colour not in (2, 6):
                raise AssertionError(f"a picture of depth {depth} and kind {colour}")
            channels = 3 if colour == 2 else 4
        elif kind == b"IDAT":
            data += png[at + 8:at + 8 + length]
        at += length + 12
    raw, step, before = zlib.decompress(data), width * channels, bytearray(width * channels)
    counts = collections.Counter()
    for start in range(0, len(raw), step + 1):
        how, line = raw[start], bytearray(raw[start + 1:start + 1 + step])
        for i in range(step):
            left = line[i - channels] if i >= channels else 0
            up, corner = before[i], before[i - channels] if i >= channels else 0
            if how == 1:
                line[i] = (line[i] + left) & 255
            elif how == 2:
                line[i] = (line[i] + up) & 255
            elif how == 3:
                line[i] = (line[i] + (left + up) // 2) & 255
            elif how == 4:
                p = left + up - corner
                a, b, c = abs(p - left), abs(p - up), abs(p - corner)
                line[i] = (line[i] + (left if a <= b and a <= c else up if b <= c else corner)) & 255
        counts.update(zip(line[0::channels], line[1::channels], line[2::channels]))
        before = line
    return counts


@unittest.skipUnless(BROWSER, "no Chromium is installed")
class Pages(CliCase):
    def opened(self, page):
        """What the page asked for, and the colours that it shows. What the browser asks for on its own account has no origin."""
        log, picture = self.path("net.json"), self.path("page.png")
        for old in (log, picture):
            if os.path.exists(old):
                os.remove(old)
        subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--hide-scrollbars",
                        "--blink-settings=preferredColorScheme=1", "--window-size=1000,1500", f"--user-data-dir={self.path('profile')}", f"--log-net-log={log}",
                        "--net-log-capture-mode=Everything", f"--screenshot={picture}", pathlib.Path(page).as_uri()],
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120, check=True)
        with open(log) as f:
            events = json.load(f)["events"]
        asked = [e["params"]["url"] for e in events
                 if isinstance(e.get("params"), dict) and "url" in e["params"] and str(e["params"].get("initiator", "not an origin")) != "not an origin"]
        return asked, pixels(self.read(picture))

    def test_plots_show_and_nothing_is_asked_for(self):
        db, one, trial, race, lessons, why, campaign = (self.path(n) for n in ("s.db", "one.html", "trial.html", "race.html", "lessons.html", "why.html", "campaign.html"))
        for tuner, seed in (("random", "1"), ("genetic", "1"), ("random", "2"), ("genetic", "2")):
            tw("tune", "space:matmul-znver5", "--tuner", tuner, "--seed", seed, "--trials", "60", "--db", db, check=0)
        tw("report", db, "-o", one, check=0)
        tw("report", db, "--trial", "7", "-o", trial, check=0)
        tw("compare", db, "--html", race, check=0)
        handed = {"tilewright_lessons": 1, "learner": "<img src=http://127.0.0.1:9/a>", "lessons": [{"lesson": "x", "title": "T", "steps": [{"step": "s", "state": "done"}]}]}
        os.mkdir(self.path("handed"))
        self.write("handed/a.json", json.dumps(handed).encode())
        tw("lesson", "collect", self.path("handed"), "--html", lessons, check=0)
        tw("explain", db, "1:1", "1:7", "--html", why, check=0)
        tw("campaign", os.path.join(SHIPPED, "matmul-cpu.twz"), "--html", campaign, check=0)
        for page, curves in ((one, [(0x00, 0x67, 0xa3)]), (race, [(0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)]), (campaign, [(0x00, 0x72, 0xb2), (0xd5, 0x5e, 0x00)]), (trial, []), (lessons, []), (why, [])):
            with self.subTest(page=os.path.basename(page)):
                asked, colours = self.opened(page)
                self.assertEqual(asked, [])
                self.assertGreater(len(colours), 20)  # letters at least
                for curve in curves:
                    self.assertGreater(colours[curve], 100)
                if not curves:
                    continue
                bare = self.write("bare.html", re.sub(rb"<svg.*?</svg>", b"", self.read(page), flags=re.S))
                _, without = self.opened(bare)
                for curve in curves:
                    self.assertEqual(without[curve], 0)

    def test_a_page_that_asks_is_found_out(self):
        asked, _ = self.opened(self.write("asks.html", b"<!doctype html><p>Text</p><img src=http://127.0.0.1:9/a.png>"))
        self.assertTrue(any("127.0.0.1" in url for url in asked), asked)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
