// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/link/ethdev/ingress_drop.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <linux/bpf.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace dpdkx::link {

namespace {

// Of linux/bpf.h from 6.6 on.
constexpr std::uint32_t attach_tcx_ingress = 46;
constexpr std::int32_t tcx_next = -1, tcx_drop = 2;

constexpr std::int16_t ethernet_header = 14;
// What of the IP and UDP headers is looked at lies at the stack's lower end.
constexpr std::int16_t headers_v4 = 24, headers_v6 = 44, stack = -48;

// Tests that each go to the end, or fall through to the next.
class Program {
public:
  Program() { add(BPF_ALU64 | BPF_MOV | BPF_X, context, BPF_REG_1, 0, 0); }

  void next_unless_field(std::size_t at, std::int32_t value) {
    add(BPF_LDX | BPF_W | BPF_MEM, BPF_REG_0, context, static_cast<std::int16_t>(at), 0);
    next_unless(value);
  }
  void load_headers(std::int32_t size) {
    add(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_1, context, 0, 0);
    add(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_2, 0, 0, ethernet_header);
    add(BPF_ALU64 | BPF_MOV | BPF_X, BPF_REG_3, BPF_REG_10, 0, 0);
    add(BPF_ALU64 | BPF_ADD | BPF_K, BPF_REG_3, 0, 0, stack);
    add(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_4, 0, 0, size);
    add(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_skb_load_bytes);
    next_unless(0);
  }
  // In the headers; values in network order.
  void next_unless_byte(int at, std::int32_t value, std::int32_t mask = 0xff) {
    load(BPF_B, at);
    masked(mask);
    next_unless(value);
  }
  void next_unless_half(int at, std::uint16_t value, std::uint16_t mask = 0xffff) {
    load(BPF_H, at);
    masked(mask);
    next_unless(value);
  }
  void next_unless_word(int at, std::uint32_t value) {
    load(BPF_W, at);
    next_unless(static_cast<std::int32_t>(value));
  }
  std::vector<bpf_insn> dropping() {
    result(tcx_drop);
    for (const std::size_t i : to_end_)
      code_[i].off = static_cast<std::int16_t>(code_.size() - i - 1);
    result(tcx_next);
    return std::move(code_);
  }

private:
  static constexpr std::uint8_t context = BPF_REG_6; // which calls leave alone

  void add(int code, std::uint8_t to, std::uint8_t from, std::int16_t offset, std::int32_t value) {
    bpf_insn instruction{};
    instruction.code = static_cast<std::uint8_t>(code);
    instruction.dst_reg = to & 15;
    instruction.src_reg = from & 15;
    instruction.off = offset;
    instruction.imm = value;
    code_.push_back(instruction);
  }
  void load(int size, int at) {
    add(BPF_LDX | size | BPF_MEM, BPF_REG_0, BPF_REG_10, static_cast<std::int16_t>(stack + at), 0);
  }
  void masked(std::int32_t mask) { add(BPF_ALU | BPF_AND | BPF_K, BPF_REG_0, 0, 0, mask); }
  void next_unless(std::int32_t value) {
    to_end_.push_back(code_.size());
    add(BPF_JMP32 | BPF_JNE | BPF_K, BPF_REG_0, 0, 0, value);
  }
  void result(std::int32_t value) {
    add(BPF_ALU64 | BPF_MOV | BPF_K, BPF_REG_0, 0, 0, value);
    add(BPF_JMP | BPF_EXIT, 0, 0, 0, 0);
  }

  std::vector<bpf_insn> code_;
  std::vector<std::size_t> to_end_;
};

std::vector<bpf_insn> program_for(const Address &address) {
  Program p;
  const bool v4 = address.is_v4();
  p.next_unless_field(offsetof(__sk_buff, protocol), htons(v4 ? 0x0800 : 0x86dd));
  p.next_unless_field(offsetof(__sk_buff, vlan_present), 0);
  p.load_headers(v4 ? headers_v4 : headers_v6);
  if (v4) {
    p.next_unless_byte(0, 0x45); // without options
    p.next_unless_half(6, 0, htons(0x3fff));
    p.next_unless_byte(9, IPPROTO_UDP);
    p.next_unless_word(16, htonl(address.v4_host_order()));
    p.next_unless_half(22, htons(address.port));
  } else {
    p.next_unless_byte(0, 0x60, 0xf0);
    p.next_unless_byte(6, IPPROTO_UDP); // at once, no other header before it
    for (std::size_t i = 0; i < address.ip.size(); i += 4) {
      std::uint32_t word;
      std::memcpy(&word, &address.ip[i], sizeof(word));
      p.next_unless_word(static_cast<int>(24 + i), word);
    }
    p.next_unless_half(42, htons(address.port));
  }
  return p.dropping();
}

int bpf(int command, bpf_attr &attributes) {
  const long rc = syscall(SYS_bpf, command, &attributes, sizeof(attributes));
  return rc < 0 ? -errno : static_cast<int>(rc);
}

int load(const std::vector<bpf_insn> &code) {
  bpf_attr attributes{};
  attributes.prog_type = BPF_PROG_TYPE_SCHED_CLS;
  attributes.insns = reinterpret_cast<std::uintptr_t>(code.data());
  attributes.insn_cnt = static_cast<std::uint32_t>(code.size());
  attributes.license = reinterpret_cast<std::uintptr_t>("Dual BSD/GPL");
  constexpr char name[] = "dpdkx_drop";
  static_assert(sizeof(name) <= sizeof(attributes.prog_name));
  std::memcpy(attributes.prog_name, name, sizeof(name));
  return bpf(BPF_PROG_LOAD, attributes);
}

} // namespace

IngressDrop::~IngressDrop() {
  if (link_ >= 0)
    close(link_);
}

int IngressDrop::attach(unsigned interface_index, const Address &address) {
  const int program = load(program_for(address));
  if (program < 0)
    return program;
  bpf_attr attributes{};
  attributes.link_create.prog_fd = static_cast<std::uint32_t>(program);
  attributes.link_create.target_fd = interface_index;
  attributes.link_create.attach_type = attach_tcx_ingress;
  link_ = bpf(BPF_LINK_CREATE, attributes);
  close(program);
  return link_ < 0 ? link_ : 0;
}

} // namespace dpdkx::link
