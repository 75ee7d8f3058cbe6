#!/bin/sh
# Makes two network namespaces with a veth between them, 10.77.0.1 and fd77::1, 10.77.0.2 and fd77::2. Runs a command in each: the first argument
# in the second namespace, the second argument in the first. Arguments of tc netem may follow.
set -e
there=$1 here=$2
shift 2
unshare --net sleep 600 &
other=$!
trap 'kill $other' EXIT
while [ "$(readlink /proc/$other/ns/net)" = "$(readlink /proc/self/ns/net)" ]; do :; done
in_other() { nsenter --target "$other" --net "$@"; }
ip link add here type veth peer name there
ip link set there netns "$other"
ip address add 10.77.0.1/24 dev here
[ ! -e /proc/net/if_inet6 ] || ip address add fd77::1/64 dev here nodad
ip link set here up
in_other ip address add 10.77.0.2/24 dev there
[ ! -e /proc/net/if_inet6 ] || in_other ip address add fd77::2/64 dev there nodad
in_other ip link set there up
[ $# -eq 0 ] || tc qdisc add dev here root netem "$@"
in_other sh -c "$there" &
listening=$!
sh -c "$here"
wait "$listening"
