#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fetches mbedTLS's archives for 64-bit Arm from Debian into build/mbedtls-arm64, for agents on boards that speak TLS. Needs no root and changes nothing of the
# system: apt reads the lists of that architecture into the same folder. Safe to run twice.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

folder=$ROOT/build/mbedtls-arm64
mkdir -p "$folder"/apt/{lists,cache/archives}/partial
touch "$folder/apt/status"
apt() {
  apt-get -qq -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State::lists="$folder/apt/lists" -o Dir::State::status="$folder/apt/status" \
    -o Dir::Cache="$folder/apt/cache" -o APT::Sandbox::User=root "$@"
}
command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null || die "This machine has no apt-get; unpack Debian's libmbedtls-dev for arm64 into $folder by other means"
say "Reading Debian's package lists for arm64"
apt update || die "The package lists could not be read"
say "Fetching libmbedtls-dev for arm64"
(cd "$folder/apt" && apt download libmbedtls-dev:arm64) || die "apt-get could not fetch libmbedtls-dev for arm64"
dpkg-deb -x "$folder"/apt/libmbedtls-dev_*_arm64.deb "$folder"
rm -r "$folder/apt"
say "Ready; configure and build again: cmake --preset release && ninja -C build/release tw-agent-aarch64"
