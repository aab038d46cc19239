#!/bin/sh
# contained.sh ROOT IMAGE WORKDIR NODE UID:GID CONFIG COMMAND…: runs a command as a container would, in namespaces of its own for mounts and
# processes: the system's programs and the image's files, all read-only, and nothing else; without capabilities, as somebody who is not
# root. CONFIG is a folder that is mounted as /etc/informerql. The network is the host's.
set -eu
root=$1 image=$2 workdir=$3 node=$4 user=$5 config=$6
shift 6
mount --make-rprivate /
mount -t tmpfs -o size=1m,mode=755 tmpfs "$root"
cd "$root"
mkdir -p dev proc etc/informerql tmp usr node "./$workdir"
for dir in bin sbin lib lib64; do
  if [ -L "/$dir" ]; then
    ln -s "$(readlink "/$dir")" "$dir"
  elif [ -d "/$dir" ]; then
    mkdir "$dir"
    mount --bind "/$dir" "$dir"
    mount -o remount,ro,bind "$dir"
  fi
done
touch dev/null dev/urandom node/node
bind() {
  mount --bind "$1" "$2"
  mount -o remount,ro,bind "$2"
}
bind /usr usr
bind "$image" "./$workdir"
bind "$config" etc/informerql
bind "$node" node/node
mount --bind /dev/null dev/null
mount --bind /dev/urandom dev/urandom
mount -t proc -o ro proc proc
mount -o remount,ro "$root"
exec chroot "$root" /usr/bin/env -i -C "$workdir" PATH=/node:/usr/bin HOME=/nonexistent NODE_ENV=production \
  setpriv --reuid "${user%:*}" --regid "${user#*:}" --clear-groups --no-new-privs --bounding-set=-all --inh-caps=-all "$@"
