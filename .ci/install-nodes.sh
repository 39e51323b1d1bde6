#!/usr/bin/env bash
# install-nodes.sh FOLDER VERSION...: puts each Node, out of the npm package `node`, into FOLDER/node<version>.
set -euo pipefail
folder=$1
shift
here=$(dirname "${BASH_SOURCE[0]}")
for version in "$@"; do
  "$here/retry.sh" 3 npm install --prefix "$folder/node$version" --no-save --no-audit --no-fund "node@$version"
done
