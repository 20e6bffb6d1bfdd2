#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Makes ./configure; needs autoconf, automake, libtool, pkg-config.
set -e
cd "$(dirname "$0")"
mkdir -p m4 build-aux
exec autoreconf --install --warnings=all
