# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# fi_pingpong between two processes of this host. Who sources this calls
# pingpong_end when it exits.

pingpong_server=

# A TCP port on which nobody listens, for what they say beside the messages.
pingpong_port() {
  local port
  while :; do
    port=$((20000 + RANDOM % 10000))
    if [[ -z $(ss -Hltn "sport = :$port") ]]; then break; fi
  done
  echo "$port"
}

# pingpong LOG ENDPOINT-TYPE COMMAND...
# The COMMAND, if there is one, runs fi_pingpong in an environment of its own.
# Prints the client's figures; LOG gets the server's.
pingpong() {
  local log=$1 type=$2 port until=$((SECONDS + 20))
  shift 2
  port=$(pingpong_port)
  timeout 60 "$@" fi_pingpong -p dpdkx -e "$type" -B "$port" >"$log" 2>&1 &
  pingpong_server=$!
  # The client gives up at once where nobody listens.
  until [[ -n $(ss -Hltn "sport = :$port") ]]; do
    if ((SECONDS > until)) || [[ ! -e /proc/$pingpong_server ]]; then
      cat "$log" >&2
      echo "fi_pingpong's server does not listen" >&2
      return 1
    fi
    sleep 0.05 # between two looks
  done
  timeout 60 "$@" fi_pingpong -p dpdkx -e "$type" -P "$port" 127.0.0.1 || return
  wait "$pingpong_server" || return
  pingpong_server=
}

pingpong_end() {
  if [[ -n $pingpong_server ]]; then
    kill "$pingpong_server" 2>/dev/null || [[ ! -e /proc/$pingpong_server ]]
  fi
}
