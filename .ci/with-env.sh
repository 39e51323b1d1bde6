#!/usr/bin/env bash
# with-env.sh FILE COMMAND...: runs the command with the exports of the file.
set -euo pipefail
# shellcheck source=/dev/null
. "$1"
shift
exec "$@"
