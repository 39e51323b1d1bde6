#!/usr/bin/env bash
# install-packages.sh PACKAGE...: installs what is missing of these Debian packages, without starting their services.
set -euo pipefail

missing=()
for package in "$@"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
[ ${#missing[@]} = 0 ] && exit 0

# nginx and prometheus would start with their packages. Their own file wins: do not touch one that is there.
policy=/usr/sbin/policy-rc.d
if [ ! -e $policy ]; then
  trap 'rm -f $policy' EXIT
  printf '#!/bin/sh\nexit 101\n' >$policy
  chmod +x $policy
fi

export DEBIAN_FRONTEND=noninteractive
apt=(apt-get -y -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=3)
here=$(dirname "${BASH_SOURCE[0]}")
# A foreign source that is away must not stand in the way of Debian's packages.
"$here/retry.sh" 3 "${apt[@]}" update || echo 'going on with the package lists there are'
"$here/retry.sh" 3 "${apt[@]}" install --no-install-recommends "${missing[@]}"
