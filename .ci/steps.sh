# shellcheck shell=bash disable=SC2154
# The vocabulary of .ci/run: steps, suites, background work, and the sum. Expects logs, deadline, background, ceph_state.

passed=0
failed=0
current=

# Name as a file name.
slug() { tr -cs 'a-zA-Z0-9' '-' <<<"$1" | sed 's/-*$//'; }

# The step's own limit, cut by what is left of the whole run; at least one second, so that `timeout` always applies.
limit() {
  local left=$((deadline - SECONDS))
  [ "$left" -lt "$1" ] && set -- "$left"
  [ "$1" -lt 1 ] && set -- 1
  echo "$1"
}

# timed SECONDS LOG COMMAND...: exit code of the command, 124 when it ran out of time. `timeout` ends its whole group.
timed() {
  local seconds
  seconds=$(limit "$1")
  local log=$2
  shift 2
  # In the background and waited for: only so does a signal to .ci/run end the step at once instead of after it.
  timeout --kill-after=20 "$seconds" "$@" >"$log" 2>&1 </dev/null &
  current=$!
  local code=0
  wait "$current" || code=$?
  current=
  return "$code"
}

explain_exit() { [ "$1" = 124 ] || [ "$1" = 137 ] && echo 'ran out of time' || echo "exit code $1"; }

show_log() { sed 's/^/    /' "$1" | tail -n "$2"; }

# step NAME SECONDS COMMAND...: counts as one failure when it fails, as nothing when it passes.
step() {
  local name=$1 seconds=$2 log began=$SECONDS code=0
  shift 2
  log=$logs/$(slug "$name").log
  timed "$seconds" "$log" "$@" || code=$?
  if [ $code = 0 ]; then
    echo "ok      $name ($((SECONDS - began)) s)"
  else
    echo "FAILED  $name: $(explain_exit $code) after $((SECONDS - began)) s"
    show_log "$log" 150
    failed=$((failed + 1))
  fi
}

# suite NAME SECONDS FOLDERS COMMAND...: a jest run; its JSON results are counted by .ci/report.mjs.
suite() {
  local name=$1 seconds=$2 folders=$3 base files began=$SECONDS code=0 counts
  shift 3
  base=$logs/$(slug "$name")
  # shellcheck disable=SC2086 # several folders in one word
  files=$(find $folders -name '*.test.ts' 2>/dev/null | wc -l)
  if [ "$files" = 0 ]; then
    echo "--      $name: no tests yet"
    return
  fi
  timed "$seconds" "$base.log" "$@" --ci --json --outputFile="$base.json" || code=$?
  node .ci/report.mjs "$name" "$base" "$files" "$code" $((SECONDS - began))
  read -r -a counts <"$base.count" || counts=(0 1)
  passed=$((passed + counts[0]))
  failed=$((failed + counts[1]))
}

# verdict NAME SECONDS COMMAND...: a run that judges itself by a line `verdict: passed...`; counts as one test.
verdict() {
  local name=$1 seconds=$2 log began=$SECONDS code=0
  shift 2
  log=$logs/$(slug "$name").log
  timed "$seconds" "$log" "$@" || code=$?
  if [ $code = 0 ] && grep -q '^verdict: passed' "$log"; then
    echo "ok      $name: $(grep '^verdict: ' "$log") ($((SECONDS - began)) s)"
    passed=$((passed + 1))
  else
    echo "FAILED  $name: $(explain_exit $code) after $((SECONDS - began)) s"
    show_log "$log" 60
    failed=$((failed + 1))
  fi
}

# in_background NAME SECONDS COMMAND...: starts a step whose outcome await_background reports.
in_background() {
  local name=$1 seconds
  seconds=$(limit "$2")
  shift 2
  # A session of its own, so that clean_up can end all of it by its id.
  setsid timeout --kill-after=20 "$seconds" "$@" >"$logs/$name.log" 2>&1 </dev/null &
  background+=("$!")
  declare -g "pid_$name=$!"
}

await_background() {
  local name=$1 pid=pid_$1 code=0
  wait "${!pid}" || code=$?
  if [ $code = 0 ]; then
    echo "ok      $name (in the background)"
  else
    echo "FAILED  $name: $(explain_exit $code)"
    show_log "$logs/$name.log" 80
    failed=$((failed + 1))
  fi
}

# shellcheck disable=SC2317 # called by a trap
clean_up() {
  local pid
  # `timeout` hands the signal on to all that the step started.
  [ -z "$current" ] || { kill -TERM "$current"; wait "$current"; } 2>/dev/null
  for pid in "${background[@]}"; do kill -TERM -- "-$pid" 2>/dev/null; done
  test/s3/ceph-down.sh --keep-logs "$ceph_state" 2>/dev/null
}

finish() {
  clean_up
  echo "logs: $logs, took $((SECONDS / 60)) min $((SECONDS % 60)) s"
  echo "$passed passed, $failed failed"
  [ "$failed" = 0 ] && [ "$passed" -gt 0 ]
  exit
}
