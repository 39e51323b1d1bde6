#!/usr/bin/env bash
# Starts a real S3 server for the S3 suite: Ceph 20's RADOS gateway with one monitor and one OSD, on loopback.
#
#   eval "$(test/s3/ceph-up.sh [STATE_DIR])" && npm run test:s3; test/s3/ceph-down.sh [STATE_DIR]
#
# Prints the S3_* variables that the suite reads, as shell exports, once the bucket exists; all else goes to stderr.
# Needs root (chroot, mount namespace), a Debian machine and Node. Ports are free ones, so instances run side by side;
# each has its own STATE_DIR (default: <cache>/default) and shares the unpacked programs below <cache>/root.
#
#   CEPH_STORE  memstore (default, in memory) or bluestore (a file; survives kill -9)
#   CEPH_BYTES  size of the store in bytes, default 4 GiB; memstore takes memory only as objects arrive
#   CEPH_SUITE  Debian suite to unpack from, default forky
#
# Why not Debian 12's own Ceph 16: it ignores If-None-Match on CompleteMultipartUpload, which the receiver relies on.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/transcript-receiver-ceph
state=$(realpath -m "${1:-$cache/default}")
root=$cache/root
suite=${CEPH_SUITE:-forky}
store=${CEPH_STORE:-memstore}
bytes=${CEPH_BYTES:-4294967296}
key=test-access-key
secret=test-secret-key
bucket=transcripts

fail() { echo "ceph-up: $*" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail 'needs root: bring another S3 endpoint instead, see CONTRIBUTING.md'

unpack() {
  [ -e "$root/.unpacked-$suite" ] && return
  if ! command -v mmdebstrap >/dev/null; then
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends -o DPkg::Lock::Timeout=300 mmdebstrap
  fi
  # "extract" runs no maintainer scripts: about 600 MB of files to start programs from, not a working system.
  # Frozen mirrors carry release files whose validity has run out; the signature is still checked.
  "$here/../../.ci/retry.sh" 3 sh -c 'rm -rf --one-file-system "$0"; exec mmdebstrap "$@"' "$root" \
    --quiet --variant=extract --keyring=/usr/share/keyrings/debian-archive-keyring.gpg \
    --aptopt='APT::Install-Recommends "false"' --aptopt='Acquire::Retries "3"' \
    --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
    --include=base-files,base-passwd,bash,coreutils,netbase,radosgw,ceph-mon,ceph-osd,ceph-common \
    "$suite" "$root" "$("$here/../../scripts/debian-mirror.sh")" >"$cache/unpack.log" 2>&1 || { tail -n 20 "$cache/unpack.log" >&2; fail 'unpacking failed'; }
  local file
  for file in hosts nsswitch.conf passwd group; do cp -L "/etc/$file" "$root/etc/$file"; done
  mkdir -p "$root/srv"
  touch "$root/.unpacked-$suite"
}

# A free port below the range of outgoing connections, of which Ceph's own would take it before the gateway listens, and below that of
# test/support/http/free-port.ts: the default suite runs meanwhile.
free_port() {
  local port
  while port=$((12000 + RANDOM % 8000)) && (: <>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

configure() {
  cat >"$state/ceph.conf" <<CONF
[global]
fsid = 11111111-2222-3333-4444-555555555555
mon_host = v2:127.0.0.1:$mon_port/0
public_addr = 127.0.0.1
cluster_addr = 127.0.0.1
ms_bind_ipv6 = false
ms_bind_msgr1 = false
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = /srv/keyring
osd_pool_default_size = 1
osd_pool_default_min_size = 1
mon_allow_pool_size_one = true
osd_pool_default_pg_num = 4
osd_pool_default_pgp_num = 4
osd_pool_default_pg_autoscale_mode = off
mon_max_pg_per_osd = 1000
osd_crush_chooseleaf_type = 0
mon_data_avail_crit = 1
mon_data_avail_warn = 2
osd_objectstore = $store
memstore_device_bytes = $bytes
bluestore_block_size = $bytes
osd_memory_target = 1073741824
osd_class_load_list = *
osd_class_default_list = *
osd_max_object_name_len = 2048
run_dir = /srv/run
admin_socket = /srv/run/\$cluster-\$name.asok
log_to_file = true
log_file = /srv/log/\$name.log
debug_ms = 0/0
[mon]
mon_data = /srv/mon
mon_initial_members = a
[osd]
osd_data = /srv/osd
[client.rgw.a]
rgw_data = /srv/rgw
rgw_frontends = beast endpoint=127.0.0.1:$s3_port
rgw_enable_usage_log = false
rgw_enable_ops_log = false
rgw_thread_pool_size = 128
rgw_run_sync_thread = false
CONF
}

# Runs a program of the unpacked system with the state directory at /srv. The mounts live in a namespace of their own
# and go with the process, whatever ends it.
inside() {
  # shellcheck disable=SC2016 # expanded by the inner shell
  exec unshare --mount sh -c 'root=$1 state=$2; shift 2
    for dir in proc sys dev; do mount --rbind "/$dir" "$root/$dir"; done
    mount --bind "$state" "$root/srv"
    exec chroot "$root" "$@"' inside "$root" "$state" "$@"
}
run() { (inside timeout 120 "$@") >>"$state/log/setup.log" 2>&1; }

# A session of its own, so that the whole group can be ended by the number in the pid file.
start() {
  local name=$1
  shift
  export -f inside
  root=$root state=$state setsid bash -c 'inside "$@"' start "$@" >"$state/log/$name.out" 2>&1 </dev/null &
  echo $! >"$state/run/$name.pid"
}

make_keys() {
  run ceph-authtool --create-keyring /srv/keyring --gen-key -n mon. --cap mon 'allow *'
  run ceph-authtool /srv/keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *' --cap mgr 'allow *'
  run ceph-authtool /srv/keyring --gen-key -n osd.0 --cap mon 'allow profile osd' --cap mgr 'allow profile osd' --cap osd 'allow *'
  run ceph-authtool /srv/keyring --gen-key -n client.rgw.a --cap mon 'allow rw' --cap osd 'allow rwx' --cap mgr 'allow rw'
}

start_mon() {
  run monmaptool --create --clobber --fsid 11111111-2222-3333-4444-555555555555 --addv a "[v2:127.0.0.1:$mon_port]" /srv/monmap
  run ceph-mon -c /srv/ceph.conf --mkfs -i a --monmap /srv/monmap --keyring /srv/keyring
  start mon ceph-mon -c /srv/ceph.conf -f -i a
  run ceph -c /srv/ceph.conf --connect-timeout 60 mon dump
}

start_osd() {
  local uuid
  uuid=$(cat /proc/sys/kernel/random/uuid)
  run ceph -c /srv/ceph.conf osd new "$uuid" 0
  run ceph-osd -c /srv/ceph.conf -i 0 --mkfs --osd-uuid "$uuid"
  start osd ceph-osd -c /srv/ceph.conf -f -i 0
}

start_gateway() {
  start rgw radosgw -c /srv/ceph.conf -f -n client.rgw.a
  run radosgw-admin -c /srv/ceph.conf -n client.rgw.a user create --uid=test --display-name=test --access-key="$key" --secret-key="$secret"
}

mkdir -p "$cache"
exec 9>"$cache/lock"
flock 9
unpack
flock -u 9
exec 9>&-

"$here/ceph-down.sh" "$state"
mkdir -p "$state"/{log,run,mon,osd,rgw}
give_up() { tail -n 20 "$state"/log/setup.log "$state"/log/*.out >&2; "$here/ceph-down.sh" --keep-logs "$state"; }
trap '[ $? = 0 ] || give_up' EXIT
mon_port=$(free_port)
while s3_port=$(free_port) && [ "$s3_port" = "$mon_port" ]; do :; done
configure
make_keys
start_mon
start_osd
start_gateway

export S3_ENDPOINT=http://127.0.0.1:$s3_port S3_ACCESS_KEY_ID=$key S3_SECRET_ACCESS_KEY=$secret S3_BUCKET=$bucket
timeout 120 node --no-warnings "$here/create-bucket.mjs" >&2
for name in S3_ENDPOINT S3_ACCESS_KEY_ID S3_SECRET_ACCESS_KEY S3_BUCKET; do echo "export $name=${!name}"; done | tee "$state/env"
