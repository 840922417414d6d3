# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Two network namespaces as two hosts, joined by a veth pair. Both ends have the
# same name, as the same NIC has on two hosts, so one environment serves both.
# Needs root. Source this, then:
#
#   netns_ipv6     from now on hosts have IPv6 addresses alone, instead of IPv4 ones
#   netns_relay PROGRAM MICROSECONDS
#                  from now on with a relay between them (fabtests/bench/relay), by
#                  which each frame arrives so much later
#   netns_up       makes the hosts; netns_down must run at exit
#   netns_daemons LOG [DEVICE]
#                  after netns_up: dpdkxd (DPDKXD names it) on each host, for its NIC by
#                  af_packet; or with DEVICE xdp or tap for a second NIC, which af_xdp has to
#                  itself, or to which a tap device is bridged. Exit code 77: these can't be here
#   netns_restart_daemon HOST
#                  kills the one of host A or B, and starts another in its place
#   netns_status HOST
#                  what the one of host A or B tells of itself, as JSON
#   netns_a CMD... runs a command on the first host, netns_b on the second
#   netns_down     ends what still runs on the hosts and removes them
#
# netns-agent, beside this file, is the remote shell between the two.

NETNS_DEVICE=veth0
NETNS_SUBNET=10.77.0.0/24
NETNS_ADDRESS_A=10.77.0.1
NETNS_ADDRESS_B=10.77.0.2
NETNS_SECOND_DEVICE=veth1
declare -gA NETNS_SECOND_ADDRESS=([A]=10.78.0.1/24 [B]=10.78.0.2/24)
NETNS_A=
NETNS_B=
NETNS_R=
NETNS_RELAY=()
export NETNS_AGENT
NETNS_AGENT=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/netns-agent

# Prints why there can't be namespaces here, and fails; silent if there can be.
netns_possible() {
  if ((EUID != 0)); then
    echo "network namespaces need root"
    return 1
  fi
  if ! command -v ip >/dev/null; then
    echo "ip not found; apt-get install iproute2"
    return 1
  fi
  local probe=dpdkx-$$-probe reason
  if ! reason=$(ip netns add "$probe" 2>&1); then
    echo "ip netns add: $reason"
    return 1
  fi
  ip netns del "$probe"
}

netns_ipv6() {
  NETNS_SUBNET=fd00:77::/64
  NETNS_ADDRESS_A=fd00:77::1
  NETNS_ADDRESS_B=fd00:77::2
}

netns_relay() { # PROGRAM MICROSECONDS
  NETNS_RELAY=("$1" --delay "$2")
}

# Joins each host with an interface of the relay's, which has a namespace of its own.
netns_join_by_relay() {
  local host said
  NETNS_R=dpdkx-$$-r
  ip netns add "$NETNS_R"
  for host in A B; do
    local name=NETNS_$host
    ip link add "$NETNS_DEVICE" netns "${!name}" type veth peer name "relay$host" netns "$NETNS_R"
    ip -n "$NETNS_R" link set "relay$host" up
  done
  # It ends with its namespace, in netns_down.
  exec {NETNS_RELAY_SAYS}< <(exec ip netns exec "$NETNS_R" "${NETNS_RELAY[@]}" relayA relayB)
  if ! read -r said <&"$NETNS_RELAY_SAYS"; then
    echo "netns_up: ${NETNS_RELAY[0]} does not forward" >&2
    return 1
  fi
  echo "relay: $said" >&2
}

netns_up() {
  NETNS_A=dpdkx-$$-a
  NETNS_B=dpdkx-$$-b
  export NETNS_A NETNS_B NETNS_ADDRESS_A NETNS_ADDRESS_B
  ip netns add "$NETNS_A"
  ip netns add "$NETNS_B"
  local host
  if ((${#NETNS_RELAY[@]})); then
    netns_join_by_relay
  else
    ip link add "$NETNS_DEVICE" netns "$NETNS_A" type veth peer name "$NETNS_DEVICE" netns "$NETNS_B"
  fi
  for host in A B; do
    local name=NETNS_$host address=NETNS_ADDRESS_$host
    ip -n "${!name}" link set "$NETNS_DEVICE" up
    # Nobody else can have the address: it need not be tried first.
    local flags=()
    if [[ ${!address} == *:* ]]; then flags=(nodad); fi
    ip -n "${!name}" address add "${!address}/${NETNS_SUBNET#*/}" dev "$NETNS_DEVICE" "${flags[@]}"
    ip -n "${!name}" link set lo up
  done
}

declare -gA NETNS_DAEMON=() # processes of dpdkxd, by host

netns_daemons() { # LOG, DEVICE
  NETNS_DAEMON_LOG=$1 NETNS_DAEMON_DEVICE=${2:-interface}
  if ! command -v "${DPDKXD:-dpdkxd}" >/dev/null; then
    echo "netns_daemons: no ${DPDKXD:-dpdkxd}; DPDKXD names it" >&2
    return 1
  fi
  case $NETNS_DAEMON_DEVICE in
    interface)
      netns_start_daemon A && netns_start_daemon B || return 1
      ;;
    xdp | tap)
      netns_second_nic && netns_start_daemon A && netns_start_daemon B && return
      echo "left out: no $NETNS_DAEMON_DEVICE here"
      return 77
      ;;
    *)
      echo "netns_daemons: device '$2'; interface, xdp or tap is wanted" >&2
      return 1
      ;;
  esac
}

# The kernel has no address there: launchers and such use the first.
netns_second_nic() {
  local name
  ip link add "$NETNS_SECOND_DEVICE" netns "$NETNS_A" type veth \
    peer name "$NETNS_SECOND_DEVICE" netns "$NETNS_B" || return
  for name in "$NETNS_A" "$NETNS_B"; do
    ip -n "$name" link set "$NETNS_SECOND_DEVICE" up || return
    if [[ $NETNS_DAEMON_DEVICE == tap ]]; then
      ip -n "$name" link add bridge0 up type bridge || return
      ip -n "$name" link set "$NETNS_SECOND_DEVICE" master bridge0 || return
    fi
  done
}

netns_start_daemon() { # A or B
  local name=NETNS_$1 options=(--address "${NETNS_SECOND_ADDRESS[$1]}")
  case $NETNS_DAEMON_DEVICE in
    interface) options=(--device "$NETNS_DEVICE") ;;
    xdp) options+=(--device "xdp:$NETNS_SECOND_DEVICE") ;;
    tap) options+=(--device "net_tap0,iface=tap0" --rx-queues 2 --rule-queues 2) ;;
  esac
  # It says so when it runs, and ends with its namespace, in netns_down.
  exec {NETNS_DAEMON_SAYS}< <(exec ip netns exec "${!name}" "${DPDKXD:-dpdkxd}" "${options[@]}" \
    2>>"$NETNS_DAEMON_LOG")
  NETNS_DAEMON[$1]=$!
  if ! read -r <&"$NETNS_DAEMON_SAYS"; then
    echo "netns_daemons: ${DPDKXD:-dpdkxd} does not run: $(tail -n 1 "$NETNS_DAEMON_LOG")" >&2
    return 1
  fi
  if [[ $NETNS_DAEMON_DEVICE == tap ]]; then
    # Else the bridge would take for the kernel's what is the daemon's.
    ip -n "${!name}" link set tap0 address "02:00:00:00:00:0$1"
    ip -n "${!name}" link set tap0 up master bridge0
  fi
}

netns_restart_daemon() { # A or B
  kill -KILL "${NETNS_DAEMON[$1]}"
  wait "${NETNS_DAEMON[$1]}" || true
  netns_start_daemon "$1"
}

netns_status() { # A or B
  local name=NETNS_$1
  ip netns exec "${!name}" "${DPDKXD:-dpdkxd}" status --json
}

netns_a() { ip netns exec "$NETNS_A" "$@"; }
netns_b() { ip netns exec "$NETNS_B" "$@"; }

netns_down() {
  local name pid
  for name in "$NETNS_A" "$NETNS_B" "$NETNS_R"; do
    [[ -n $name && -e /run/netns/$name ]] || continue
    # The namespace is this script's own, so whatever is in it is too.
    for pid in $(ip netns pids "$name"); do
      kill -KILL "$pid" 2>/dev/null || [[ ! -e /proc/$pid ]]
    done
    ip netns del "$name"
  done
  NETNS_A=
  NETNS_B=
  NETNS_R=
}
