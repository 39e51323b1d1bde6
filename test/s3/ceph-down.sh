#!/usr/bin/env bash
# Stops the instance that ceph-up.sh started with the same STATE_DIR, by the process groups it recorded, and removes
# its data; with the data gone there is nothing to shut down gently for, so two seconds are enough. The unpacked programs
# stay in the cache for the next start.
#
#   test/s3/ceph-down.sh [--keep-logs] [STATE_DIR]
set -euo pipefail

keep_logs=no
[ "${1:-}" = --keep-logs ] && { keep_logs=yes; shift; }
state=$(realpath -m "${1:-${XDG_CACHE_HOME:-$HOME/.cache}/transcript-receiver-ceph/default}")

# The pid in an old file may have been reused: only end a group whose leader names our state folder.
ours() { tr '\0' ' ' <"/proc/$1/environ" 2>/dev/null | grep -qF "state=$state "; }

# Do not wait for zombies, which a container without init never reaps.
running() { kill -0 -- "-$1" 2>/dev/null && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }

for name in rgw osd mon; do
  file=$state/run/$name.pid
  [ -f "$file" ] || continue
  pid=$(cat "$file")
  if ours "$pid"; then
    kill -TERM -- "-$pid" 2>/dev/null || true
    for _ in $(seq 20); do running "$pid" || break; sleep 0.1; done
    kill -KILL -- "-$pid" 2>/dev/null || true
  fi
  rm -f "$file"
done

[ -d "$state" ] || exit 0
if [ "$keep_logs" = yes ]; then rm -rf "$state"/{mon,osd,rgw,run}; else rm -rf --one-file-system "$state"; fi
