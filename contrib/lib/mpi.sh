# shellcheck shell=bash
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# How to start Debian's Open MPI, unmodified, over a transport of choice, on one
# host or on the two of netns.sh. Source netns.sh before this.

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

# mpi_command MODE RANKS TRANSPORT SECONDS
# Sets MPI_COMMAND, to which the program and its arguments are to be added. Exit
# code 124: it ran longer than SECONDS, and was ended.
#   MODE       host; netns: half of the ranks on each host, after netns_up; or daemon: the same,
#              after netns_daemons too, whose devices the ranks use
#   TRANSPORT  dpdkx     mtl/ofi on dpdkx; FI_PROVIDER_PATH says where it is
#              rdma      one-sided communication by osc/rdma and btl/ofi on dpdkx,
#                        messages by kernel TCP
#              btl       both by btl/ofi on dpdkx
#              ofi-tcp   mtl/ofi on libfabric's tcp
#              tcp       Open MPI's own kernel TCP
#              default   what Open MPI chooses by itself
mpi_command() {
  local mode=$1 ranks=$2 transport=$3 limit=$4 network=lo
  local launch=(timeout --foreground --kill-after=10 "$limit" mpirun.openmpi -n "$ranks"
    --bind-to none --oversubscribe)
  local settings=() name
  case $mode in
    host) ;;
    netns | daemon)
      if ((ranks % 2)); then
        echo "two hosts can't share $ranks ranks; an even number is wanted" >&2
        return 2
      fi
      network=$NETNS_SUBNET
      launch=(ip netns exec "$NETNS_A" "${launch[@]}" --mca plm_rsh_agent "$NETNS_AGENT"
        --host "$NETNS_ADDRESS_A:$((ranks / 2)),$NETNS_ADDRESS_B:$((ranks / 2))")
      ;;
    *)
      echo "mode '$mode'; host, netns or daemon is wanted" >&2
      return 2
      ;;
  esac
  launch+=(--mca oob_tcp_if_include "$network")
  # Two hosts on one machine: neither knows that there are too few cores.
  if ((ranks > $(nproc))); then launch+=(--mca mpi_yield_when_idle 1); fi
  case $transport in
    dpdkx | rdma | btl)
      settings=(FI_PROVIDER=dpdkx)
      if [[ $mode == netns ]]; then settings+=(FI_DPDKX_DEVICE="$NETNS_DEVICE"); fi
      ;;&
    dpdkx) launch+=(--mca pml cm --mca mtl ofi --mca btl "self,vader") ;;
    rdma)
      launch+=(--mca pml ob1 --mca btl "ofi,tcp,self" --mca btl_tcp_if_include "$network"
        --mca osc rdma --mca osc_rdma_btls ofi)
      ;;
    btl)
      launch+=(--mca pml ob1 --mca btl "ofi,self" --mca btl_ofi_mode 2
        --mca osc rdma --mca osc_rdma_btls ofi)
      ;;
    ofi-tcp)
      settings=(FI_PROVIDER=tcp)
      if [[ $mode != host ]]; then settings+=(FI_TCP_IFACE="$NETNS_DEVICE"); fi
      launch+=(--mca pml cm --mca mtl ofi --mca mtl_ofi_provider_include tcp --mca btl "self,vader")
      ;;
    tcp)
      launch+=(--mca pml ob1 --mca btl "tcp,self" --mca btl_tcp_if_include "$network"
        --mca osc pt2pt)
      ;;
    default) ;;
    *)
      echo "transport '$transport'; dpdkx, rdma, btl, ofi-tcp, tcp or default is wanted" >&2
      return 2
      ;;
  esac
  # As README tells it: exported where all ranks are on this host, named one by
  # one where some are not.
  if [[ $mode == host ]]; then
    MPI_COMMAND=(env "${settings[@]}" "${launch[@]}")
    return
  fi
  for name in FI_PROVIDER_PATH DPDKX_MPI_SABOTAGE; do
    if [[ -n ${!name:-} ]]; then settings+=("$name"); fi
  done
  MPI_COMMAND=("${launch[@]}")
  for name in "${settings[@]}"; do MPI_COMMAND+=(-x "$name"); done
}
