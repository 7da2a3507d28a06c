#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets ELF files run with an older C library than they were linked with, where the programs bring what is missing.

Usage: older_glibc.py NEWEST FILE...

The loader refuses a file that names a version of glibc which is not there, whether or not anything is missing. Names of versions newer than NEWEST (such as 2.35) are
marked as weak, which it accepts, if all symbols behind them are in PROVIDED (compat.cpp defines those). Anything else is an error.
"""
import struct
import sys

PROVIDED = {"arc4random"}
SHT_DYNSYM, SHT_VERNEED, SHT_VERSYM = 11, 0x6FFFFFFE, 0x6FFFFFFF
VER_FLG_WEAK = 2


def text_at(data, offset):
    return data[offset:data.index(b"\0", offset)].decode()


def newer(version, newest):
    if not version.startswith("GLIBC_"):
        return False
    return tuple(map(int, version[6:].split("."))) > newest


def weaken(path, newest):
    with open(path, "rb") as file:
        data = bytearray(file.read())
    if data[:5] != b"\x7fELF\x02":
        sys.exit(f"error: expected a 64-bit ELF file, found another: {path}")
    table, = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + i * size) for i in range(count)]
    by_type = {s[1]: s for s in sections}
    if SHT_VERNEED not in by_type:
        return
    need, symbols, versions = by_type[SHT_VERNEED], by_type[SHT_DYNSYM], by_type[SHT_VERSYM]
    names = sections[need[6]][4]
    weak = {}
    at = need[4]
    while True:
        _, auxiliaries, _, aux, following = struct.unpack_from("<HHIII", data, at)
        entry = at + aux
        for _ in range(auxiliaries):
            _, flags, other, name, next_entry = struct.unpack_from("<IHHII", data, entry)
            version = text_at(data, names + name)
            if newer(version, newest):
                weak[other & 0x7FFF] = version
                struct.pack_into("<H", data, entry + 4, flags | VER_FLG_WEAK)
            entry += next_entry
        if not following:
            break
        at += following
    if not weak:
        return
    symbol_names = sections[symbols[6]][4]
    for i in range(symbols[5] // 24):
        index, = struct.unpack_from("<H", data, versions[4] + 2 * i)
        if index & 0x7FFF in weak:
            symbol = text_at(data, symbol_names + struct.unpack_from("<I", data, symbols[4] + 24 * i)[0])
            if symbol not in PROVIDED:
                sys.exit(f"error: {path} needs '{symbol}' of {weak[index & 0x7FFF]}, which compat.cpp does not bring")
    with open(path, "wb") as file:
        file.write(data)


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    newest = tuple(map(int, sys.argv[1].split(".")))
    for path in sys.argv[2:]:
        weaken(path, newest)


if __name__ == "__main__":
    main()
