#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that Tilewright is built from and that are missing here. Safe to run twice.
# Usage: installers/setup_debian.sh [--no-gui] [--bench] [--learner]
#   --no-gui  without the packages of the workbench; the tests need Qt Test all the same
#   --bench   also the libraries that the benchmarks compare with
#   --learner also libtorch, for tw-learner: a gigabyte with what it brings along
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_tools=(cmake g++ ninja-build ccache mold pkg-config python3)
engine=(llvm-19-dev libsqlite3-dev libsqlitecpp-dev nlohmann-json3-dev libsimdjson-dev libonnx-dev libprotobuf-dev libzip-dev libcli11-dev
        libfmt-dev libtomlplusplus-dev libxgboost-dev libzstd-dev libxxhash-dev libmbedtls-dev)
tests=(qt6-base-dev libonnx-testdata nats-server)
gui=(qt6-base-dev qt6-svg-dev qt6-tools-dev qt6-l10n-tools libqcustomplot-dev libqscintilla2-qt6-dev)
bench=(libopenblas0-pthread libdnnl2)
learner=(libtorch-dev)

wanted=("${build_tools[@]}" "${engine[@]}" "${tests[@]}")
with_gui=yes
for arg in "$@"; do
  case $arg in
    --no-gui) with_gui=no ;;
    --bench) wanted+=("${bench[@]}") ;;
    --learner) wanted+=("${learner[@]}") ;;
    *) die "Unknown argument '$arg'; expected --no-gui, --bench or --learner" ;;
  esac
done
[ $with_gui = yes ] && wanted+=("${gui[@]}")

missing=()
for package in $(printf '%s\n' "${wanted[@]}" | sort -u); do
  state=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing+=("$package")
done
if [ ${#missing[@]} -eq 0 ]; then
  say "All Debian packages are here"
  exit 0
fi

say "Missing Debian packages: ${missing[*]}"
command -v apt-get >/dev/null || die "This machine has no apt-get; install the packages above by its own means"
sudo=()
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null || die "Installing packages needs root or sudo; run as root: apt-get install ${missing[*]}"
  sudo=(sudo -n env DEBIAN_FRONTEND=noninteractive)
  sudo -n true 2>/dev/null || die "sudo wants a password; run yourself: sudo apt-get install ${missing[*]}"
fi
"${sudo[@]}" dpkg --configure -a >/dev/null || say "dpkg could not end what it had begun; trying all the same"  # an interrupted run of this script
say "Reading the package lists"
"${sudo[@]}" apt-get update -qq || say "The package lists could not be renewed; trying with the old ones"
say "Installing ${#missing[@]} packages"
"${sudo[@]}" apt-get install -y -qq --no-install-recommends -o Dpkg::Use-Pty=0 "${missing[@]}" | awk '/^Setting up/ { print; fflush() }' \
  || die "apt-get could not install: ${missing[*]}"
say "Packages are ready"
