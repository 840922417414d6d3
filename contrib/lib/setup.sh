# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# What quickstart and check share: messages, packages, and the build in build/,
# installed to build/install. Nothing else on the system is touched.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$root/build
prefix=$build/install

# shellcheck disable=SC2034 # for those who source this
BUILD_PACKAGES=(autoconf automake libtool make g++ pkg-config libfabric-dev libfabric-bin
  libdpdk-dev libisal-dev libcmocka-dev librapidcheck-dev libcli11-dev libfmt-dev
  nlohmann-json3-dev gnuplot-nox)
# shellcheck disable=SC2034
MPI_PACKAGES=(openmpi-bin libopenmpi-dev)
# shellcheck disable=SC2034
TOOL_PACKAGES=(iproute2)

say() { printf '\n== %s\n' "$*"; }

die() {
  printf '%s: %s\n' "${0##*/}" "$*" >&2
  exit 1
}

# quietly LOG COMMAND...: shows the output only if the command fails.
quietly() {
  local log=$1 status=0
  shift
  "$@" >"$log" 2>&1 || status=$?
  if ((status != 0)); then
    tail -n 60 "$log" >&2
    echo "failed: $*; all of its output is in $log" >&2
  fi
  return "$status"
}

missing_packages() { # PACKAGE...
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) == installed ]] ||
      printf '%s\n' "$package"
  done
}

mpi_alternatives() { update-alternatives --get-selections | grep '^mpi' || [[ $? == 1 ]]; }

# Installs what is missing. Installing an MPI may make it the system's "mpi":
# what was chosen before is chosen again.
install_packages() { # PACKAGE...
  local missing before name mode value
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0
  ((EUID == 0)) || die "packages are missing; as root: apt-get install ${missing[*]}"
  say "Installing ${missing[*]}"
  before=$(mpi_alternatives)
  mkdir -p "$build"
  export DEBIAN_FRONTEND=noninteractive
  quietly "$build/apt.log" apt-get update
  quietly "$build/apt.log" apt-get install --yes --no-install-recommends "${missing[@]}"
  while read -r name mode value; do
    [[ -n $name ]] || continue
    if ! mpi_alternatives | grep -qE "^$name +$mode +$value$"; then
      update-alternatives --set "$name" "$value" >/dev/null
    fi
  done <<<"$before"
}

# An up-to-date build, installed; only what changed is made.
build_provider() {
  say "Building in ${build#"$root"/}, installing to ${prefix#"$root"/}"
  [[ ! -e $root/config.status ]] ||
    die "$root is itself configured, so build/ can't be: run 'make distclean' there first"
  mkdir -p "$build"
  [[ -w $build ]] || die "$build belongs to another user, and can't be written"
  if [[ ! -x $root/configure ]]; then quietly "$build/autogen.log" "$root/autogen.sh"; fi
  if [[ ! -e $build/Makefile ]]; then
    # -g1: lines for a backtrace; all of -g would take a third longer to compile. What it finds out
    # other builds of these sources needn't; see subbuild.
    (cd "$build" && quietly configure.log "$root/configure" --quiet --prefix="$prefix" \
      --cache-file=config.cache CFLAGS='-g1 -O2' CXXFLAGS='-g1 -O2')
  fi
  local configured
  configured=$(cd "$build" && ./config.status --file=- <<<'@prefix@')
  [[ $configured == "$prefix" ]] ||
    die "$build is configured to install to $configured; what is installed from it goes to $prefix:" \
      "configure it with that --prefix, or remove it"
  echo "the first time this takes some minutes; ${build#"$root"/}/make.log grows meanwhile"
  quietly "$build/make.log" make -C "$build" -j"$(nproc)" all-quick
  quietly "$build/mpi-programs.log" make -C "$build" -j"$(nproc)" mpi-programs
  quietly "$build/install.log" make -C "$build" install
  export FI_PROVIDER_PATH=$prefix/lib/libfabric
  [[ -e $FI_PROVIDER_PATH/libdpdkx-fi.so ]] || die "no libdpdkx-fi.so in $FI_PROVIDER_PATH after make install"
}
