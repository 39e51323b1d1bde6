#!/usr/bin/env bash
# with-node.sh PREFIX COMMAND...: runs the command, and all it starts, with the Node that the npm package `node` put there.
set -euo pipefail
prefix=$1
shift
node=$(find "$prefix/node_modules" -path '*/bin/node' -type f -print -quit)
# Without it the machine's own Node would run the command under a wrong name.
[ -n "$node" ] || { echo "with-node: there is no Node in $prefix"; exit 1; }
PATH=$(dirname "$node"):$PATH
echo "node $(node --version)"
exec "$@"
