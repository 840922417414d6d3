# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Ends the test that sources this as skipped where the provider has no devices.

if [[ -z ${FI_PROVIDER_PATH:-} ]]; then
  echo "SKIP: FI_PROVIDER_PATH is not set: to .libs of a build, or to where dpdkx is installed"
  exit 77
fi
if [[ ! -e $FI_PROVIDER_PATH/libdpdkx-ethdev.so ]]; then
  echo "SKIP: no libdpdkx-ethdev.so in $FI_PROVIDER_PATH (FI_PROVIDER_PATH): built without DPDK"
  exit 77
fi
