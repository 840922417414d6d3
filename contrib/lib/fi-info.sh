# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Sets fi_info, libfabric's program that shows what a provider tells; ends the
# script that sources this as skipped where it can't show this one.

fi_info=${FI_BINDIR:+$FI_BINDIR/}fi_info

if ! command -v "$fi_info" >/dev/null; then
  echo "SKIP: $fi_info not found (Debian package libfabric-bin)"
  exit 77
fi
# A provider built with these can't be loaded into a program built without.
if [[ -n ${UNLOADABLE_BECAUSE_OF:-} ]]; then
  echo "SKIP: $fi_info does not load a provider built with $UNLOADABLE_BECAUSE_OF"
  exit 77
fi
