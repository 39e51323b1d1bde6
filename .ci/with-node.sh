#!/usr/bin/env bash
# with-node.sh LINE PREFIX ARGUMENT...: runs `node ARGUMENT...` on the Node of this line that the npm package `node` put into PREFIX. Not
# through `npm run`, which puts the Node of node_modules first.
set -euo pipefail
line=$1
prefix=$2
shift 2
node=$(find "$prefix/node_modules" -path '*/bin/node' -type f -print -quit)
# Without it the machine's own Node would run the tests under a wrong name.
[ -n "$node" ] || { echo "with-node: there is no Node in $prefix"; exit 1; }
PATH=$(dirname "$node"):$PATH
export TEST_NODE=$line
echo "node $("$node" --version)"
exec "$node" "$@"
