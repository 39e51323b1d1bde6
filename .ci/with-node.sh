#!/usr/bin/env bash
# with-node.sh PREFIX COMMAND...: runs the command, and all it starts, with the Node that the npm package `node` put there.
set -euo pipefail
prefix=$1
shift
bin=$(dirname "$(find "$prefix/node_modules" -path '*/bin/node' -type f -print -quit)")
PATH=$bin:$PATH
echo "node $(node --version)"
exec "$@"
