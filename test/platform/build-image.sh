#!/usr/bin/env bash
# build-image.sh FOLDER: builds the Dockerfile with buildah, over bases made locally from Debian's packages (no registry
# of images is needed), and leaves in FOLDER the root file system as rootfs/ and the image's configuration as image.json.
# Needs root, buildah, mmdebstrap and npm. The base is kept in the cache.
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
project=$(realpath "$here/../..")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/transcript-receiver-ci
out=$(realpath -m "$1")
mkdir -p "$cache" "$out"

# A storage of its own: no image or container of the machine is touched, and removing the folder removes everything.
driver=overlay
buildah --storage-driver overlay --root "$out/storage" --runroot "$out/run" info >/dev/null 2>&1 || driver=vfs
buildah=(buildah --storage-driver "$driver" --root "$out/storage" --runroot "$out/run")

base=$cache/image-base.tar
if [ ! -f "$base" ]; then
  "$project/.ci/retry.sh" 3 mmdebstrap --quiet --variant=essential --include=ca-certificates,libstdc++6 \
    --aptopt='Acquire::Retries "3"' --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Check-Date "false"' \
    bookworm "$base.new.tar" "$("$project/scripts/debian-mirror.sh")"
  mv "$base.new.tar" "$base"
fi

# Of the line that the image has: what npm's scripts run on.
node=$project/node_modules/node/bin/node
npm=$(dirname "$(dirname "$(realpath "$(command -v npm)")")")

bare=$("${buildah[@]}" from scratch)
"${buildah[@]}" add -q "$bare" "$base" / >/dev/null
# Where the image runs: without Node, which the image brings itself.
"${buildah[@]}" commit -q "$bare" localhost/base:bare >/dev/null
"${buildah[@]}" copy -q "$bare" "$node" /usr/local/bin/node >/dev/null
"${buildah[@]}" copy -q "$bare" "$npm" /usr/local/lib/node_modules/npm >/dev/null
# The machine's certificate authorities, so that npm gets through a network that opens TLS. Only where the image is built.
"${buildah[@]}" copy -q "$bare" /etc/ssl/certs/ca-certificates.crt /usr/local/share/build-ca.crt >/dev/null
# A registry that does not answer for a moment fails no build.
"${buildah[@]}" config --env NODE_EXTRA_CA_CERTS=/usr/local/share/build-ca.crt --env npm_config_fetch_retries=5 \
  --env npm_config_fetch_timeout=60000 "$bare"
"${buildah[@]}" run --isolation chroot "$bare" ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
"${buildah[@]}" commit -q "$bare" localhost/base:node24-npm >/dev/null

# All files of the layers get the same time, as BuildKit's rewrite-timestamp does it.
"${buildah[@]}" bud -q --isolation chroot --format docker --timestamp 0 --build-arg BASE=localhost/base:bare \
  --build-arg BUILD_BASE=localhost/base:node24-npm -t localhost/transcript-receiver:check "$project" >"$out/build.log"

"${buildah[@]}" inspect --type image localhost/transcript-receiver:check >"$out/image.json"
container=$("${buildah[@]}" from --pull-never localhost/transcript-receiver:check)
mounted=$("${buildah[@]}" mount "$container")
cp -a "$mounted" "$out/rootfs"
"${buildah[@]}" umount "$container" >/dev/null
"${buildah[@]}" rm --all >/dev/null
rm -rf "$out/storage" "$out/run"
