#!/usr/bin/env bash
# retry.sh TIMES COMMAND...: runs a download again when the network or a lock gets in its way. Never used for tests.
times=$1
shift
for attempt in $(seq "$times"); do
  "$@" && exit 0
  echo "attempt $attempt of $times failed: $*"
  [ "$attempt" = "$times" ] || sleep $((attempt * 15))
done
exit 1
