#!/bin/sh
# Makes ./configure from configure.ac. Needs the Debian packages autoconf,
# automake, libtool and pkg-config.
set -e
cd "$(dirname "$0")"
for tool in autoreconf automake libtoolize pkg-config; do
  command -v "$tool" >/dev/null || {
    echo "autogen.sh: $tool not found; apt-get install autoconf automake libtool pkg-config" >&2
    exit 1
  }
done
exec autoreconf --install --warnings=all,no-obsolete,no-portability
