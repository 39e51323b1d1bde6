#!/usr/bin/env bash
# install-kubectl.sh FOLDER: puts a kubectl of today into FOLDER. The one of Debian 12 (1.20) carries a Kustomize of 2019,
# which knows neither `labels` nor `patches`; the one of Debian's testing suite needs nothing but the C library.
set -euo pipefail

folder=$1
mkdir -p "$folder"
works() { "$1" version --client 2>/dev/null | grep -q 'Kustomize Version: v5'; }
works "$folder/kubectl" && exit 0

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$scratch"/{lists,cache}/partial "$scratch/cache/archives/partial" "$scratch/root"

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $("$here/../scripts/debian-mirror.sh") forky main" \
  >"$scratch/sources.list"
touch "$scratch/status"

# Lists, cache and status of its own: the machine's package state does not learn of the other suite. A frozen mirror's release
# file may be past its validity; the signature is still checked.
apt=(apt-get -q -o Dir::Etc::SourceList="$scratch/sources.list" -o Dir::Etc::SourceParts=/dev/null
  -o Dir::State::Lists="$scratch/lists" -o Dir::State::Status="$scratch/status" -o Dir::Cache="$scratch/cache" -o APT::Sandbox::User=root
  -o Acquire::Retries=3 -o Acquire::Check-Valid-Until=false -o Acquire::Check-Date=false)
cd "$scratch"
"$here/retry.sh" 3 "${apt[@]}" update
"$here/retry.sh" 3 "${apt[@]}" download kubectl
dpkg-deb -x kubectl_*.deb root
install root/usr/bin/kubectl "$folder/kubectl"
works "$folder/kubectl" || { echo 'this kubectl does not run here' >&2; exit 1; }
