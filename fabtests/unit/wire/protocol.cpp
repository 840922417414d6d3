// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// protocol.md against the encoders: for every field of every format, the bytes
// that change with it are those that the table says; every byte is accounted
// for; and every type and flag has the value of its enumerator.
#include "dpdkx/wire/handshake.h"
#include "dpdkx/wire/packet.h"
#include "dpdkx/wire/probe.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <functional>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "unit/unit.h"

using namespace dpdkx;
using namespace dpdkx::wire;

namespace {

using Row = std::vector<std::string>;
using Tables = std::map<std::string, std::vector<Row>>; // by heading

std::string trimmed(const std::string &s) {
  const auto first = s.find_first_not_of(' ');
  return first == std::string::npos ? "" : s.substr(first, s.find_last_not_of(' ') - first + 1);
}

Tables read_tables() {
  const char *const top = std::getenv("top_srcdir");
  const std::string path = std::string(top != nullptr ? top : ".") + "/prov/dpdkx/wire/protocol.md";
  std::ifstream file(path);
  if (!file)
    std::fprintf(stderr, "%s: can't be read; set top_srcdir\n", path.c_str());
  assert_true(static_cast<bool>(file));
  Tables tables;
  std::string line, heading;
  while (std::getline(file, line)) {
    if (line.rfind("#", 0) == 0)
      heading = trimmed(line.substr(line.find_first_not_of('#')));
    if (line.rfind("| ", 0) != 0)
      continue;
    Row row;
    std::istringstream cells(line.substr(1));
    for (std::string cell; std::getline(cells, cell, '|');)
      row.push_back(trimmed(cell));
    if (!row.empty() && !row[0].empty() && std::isdigit(static_cast<unsigned char>(row[0][0])) != 0)
      tables[heading].push_back(row);
  }
  return tables;
}

using Encoded = std::vector<std::byte>;

template <class T> Encoded bytes_of(const T &value) {
  Encoded e(512);
  e.resize(static_cast<std::size_t>(encode(e.data(), value) - e.data()));
  return e;
}

// A format: an object with all that is optional present, and how to set each
// field to what differs from it in every byte.
template <class T> struct Format {
  std::string name;
  T base;
  std::map<std::string, std::function<void(T &)>> fields;
  // Fields of one byte that decide which others there are, with their value in `base`.
  std::map<std::string, std::uint8_t> deciding = {};
};

template <class T> void check(const Tables &tables, const Format<T> &f) {
  const Encoded base = bytes_of(f.base);
  const std::string heading = f.name + ": " + std::to_string(base.size()) + " bytes";
  if (tables.count(heading) == 0)
    std::fprintf(stderr, "protocol.md has no \"%s\"\n", heading.c_str());
  assert_int_equal(tables.count(heading), 1);
  std::size_t end = 0, named = 0;
  for (const Row &row : tables.at(heading)) {
    const std::size_t offset = std::stoul(row[0]), size = std::stoul(row[1]);
    assert_int_equal(offset, end);
    end = offset + size;
    if (row[2] == "reserved") {
      for (std::size_t i = offset; i < end; ++i)
        assert_int_equal(std::to_integer<int>(base[i]), 0);
      continue;
    }
    ++named;
    if (const auto d = f.deciding.find(row[2]); d != f.deciding.end()) {
      assert_int_equal(size, 1);
      assert_int_equal(std::to_integer<int>(base[offset]), d->second);
      continue;
    }
    if (f.fields.count(row[2]) == 0)
      std::fprintf(stderr, "%s: the test knows no field %s\n", f.name.c_str(), row[2].c_str());
    assert_int_equal(f.fields.count(row[2]), 1);
    T other = f.base;
    f.fields.at(row[2])(other);
    const Encoded changed = bytes_of(other);
    for (std::size_t i = 0; i < base.size(); ++i) {
      const bool inside = i >= offset && i < end;
      if ((base[i] != changed[i]) != inside)
        std::fprintf(stderr, "%s.%s: byte %zu\n", f.name.c_str(), row[2].c_str(), i);
      assert_int_equal(base[i] != changed[i], inside);
    }
  }
  assert_int_equal(end, base.size());
  assert_int_equal(named, f.fields.size() + f.deciding.size());
}

constexpr std::uint64_t all64 = ~std::uint64_t{0};
constexpr std::uint32_t all32 = ~std::uint32_t{0};
constexpr std::uint16_t all16 = 0xffff;
constexpr std::uint8_t all8 = 0xff;

std::uint8_t value(FrameType t) { return static_cast<std::uint8_t>(t); }

void headers__are_as_written(void **) {
  const Tables t = read_tables();
  PacketHeader h;
  h.version = 0;
  check<PacketHeader>(t, {"PacketHeader",
                          h,
                          {{"version", [](auto &x) { x.version = all8; }},
                           {"type", [](auto &x) { x.type = PacketType{0xfe}; }},
                           {"flags", [](auto &x) { x.flags = all8; }},
                           {"checksum", [](auto &x) { x.checksum = all32; }},
                           {"token", [](auto &x) { x.token = Token{all64}; }},
                           {"pn", [](auto &x) { x.pn = {all32}; }}}});
  check<AckBlock>(t, {"AckBlock",
                      AckBlock{},
                      {{"cumulative", [](auto &x) { x.cumulative = {all32}; }},
                       {"processed", [](auto &x) { x.processed = {all32}; }},
                       {"credit_limit", [](auto &x) { x.credit_limit = all32; }},
                       {"delay_us", [](auto &x) { x.delay_us = all16; }},
                       {"sack_words", [](auto &x) { x.sack_words = 1; }}}});
}

void message_frames__are_as_written(void **) {
  const Tables t = read_tables();
  MessageFrame m;
  m.tagged = true;
  m.flags = frame_flag::cq_data | frame_flag::more;
  check<MessageFrame>(t, {"MessageFrame",
                          m,
                          {{"len", [](auto &x) { x.len = all16; }},
                           {"mn", [](auto &x) { x.mn = {all32}; }},
                           {"tag", [](auto &x) { x.tag = all64; }},
                           {"data", [](auto &x) { x.data = all64; }},
                           {"total", [](auto &x) { x.total = all64; }}},
                          {{"type", value(FrameType::tagged)}, {"flags", m.flags}}});
  check<SegmentFrame>(t, {"SegmentFrame",
                          SegmentFrame{},
                          {{"len", [](auto &x) { x.len = all16; }},
                           {"mn", [](auto &x) { x.mn = {all32}; }},
                           {"offset", [](auto &x) { x.offset = all32; }}},
                          {{"type", value(FrameType::segment)}, {"flags", 0}}});
}

void rendezvous_frames__are_as_written(void **) {
  const Tables t = read_tables();
  RtsFrame r{};
  r.flags = frame_flag::tagged | frame_flag::cq_data | frame_flag::pull;
  r.regions = 1;
  r.region[0] = {0, 0};
  check<RtsFrame>(t, {"RtsFrame",
                      r,
                      {{"mn", [](auto &x) { x.mn = {all32}; }},
                       {"total", [](auto &x) { x.total = all64; }},
                       {"sender", [](auto &x) { x.sender = OpId{all64}; }},
                       {"tag", [](auto &x) { x.tag = all64; }},
                       {"data", [](auto &x) { x.data = all64; }},
                       {"region.address", [](auto &x) { x.region[0].address = all64; }},
                       {"region.length", [](auto &x) { x.region[0].length = all64; }}},
                      {{"type", value(FrameType::rts)}, {"flags", r.flags}, {"regions", 1}}});
  check<CtsFrame>(t, {"CtsFrame",
                      CtsFrame{},
                      {{"sender", [](auto &x) { x.sender = OpId{all64}; }},
                       {"receiver", [](auto &x) { x.receiver = OpId{all64}; }},
                       {"length", [](auto &x) { x.length = all64; }}},
                      {{"type", value(FrameType::cts)}, {"flags", 0}}});
  check<RdataFrame>(t, {"RdataFrame",
                        RdataFrame{},
                        {{"len", [](auto &x) { x.len = all16; }},
                         {"receiver", [](auto &x) { x.receiver = OpId{all64}; }},
                         {"offset", [](auto &x) { x.offset = all64; }}},
                        {{"type", value(FrameType::rdata)}, {"flags", 0}}});
  check<FinFrame>(t, {"FinFrame",
                      FinFrame{},
                      {{"sender", [](auto &x) { x.sender = OpId{all64}; }},
                       {"status", [](auto &x) { x.status = all32; }}},
                      {{"type", value(FrameType::fin)}, {"flags", 0}}});
}

// The fields of the one target of a frame.
template <class T>
std::map<std::string, std::function<void(T &)>>
with_target(std::map<std::string, std::function<void(T &)>> others) {
  others["target.address"] = [](T &x) { x.targets.at[0].address = all64; };
  others["target.length"] = [](T &x) { x.targets.at[0].length = all64; };
  others["target.key"] = [](T &x) { x.targets.at[0].key = all64; };
  return others;
}

Targets one_target() {
  Targets t;
  t.count = 1;
  t.at[0] = {0, 0, 0};
  return t;
}

void rma_frames__are_as_written(void **) {
  const Tables t = read_tables();
  WriteFrame w;
  w.flags = frame_flag::cq_data;
  w.targets = one_target();
  check<WriteFrame>(t, {"WriteFrame",
                        w,
                        with_target<WriteFrame>({{"len", [](auto &x) { x.len = all16; }},
                                                 {"mn", [](auto &x) { x.mn = {all32}; }},
                                                 {"data", [](auto &x) { x.data = all64; }}}),
                        {{"type", value(FrameType::write)}, {"flags", w.flags}, {"targets", 1}}});
  WriteRequestFrame r{};
  r.flags = frame_flag::cq_data | frame_flag::pull;
  r.targets = one_target();
  r.regions = 1;
  r.region[0] = {0, 0};
  check<WriteRequestFrame>(t,
                           {"WriteRequestFrame",
                            r,
                            with_target<WriteRequestFrame>(
                                {{"mn", [](auto &x) { x.mn = {all32}; }},
                                 {"sender", [](auto &x) { x.sender = OpId{all64}; }},
                                 {"data", [](auto &x) { x.data = all64; }},
                                 {"region.address", [](auto &x) { x.region[0].address = all64; }},
                                 {"region.length", [](auto &x) { x.region[0].length = all64; }}}),
                            {{"type", value(FrameType::write_request)},
                             {"flags", r.flags},
                             {"regions", 1},
                             {"targets", 1}}});
  ReadFrame read;
  read.targets = one_target();
  check<ReadFrame>(t,
                   {"ReadFrame",
                    read,
                    with_target<ReadFrame>({{"mn", [](auto &x) { x.mn = {all32}; }},
                                            {"reader", [](auto &x) { x.reader = OpId{all64}; }}}),
                    {{"type", value(FrameType::read)}, {"flags", 0}, {"targets", 1}}});
  check<StatusFrame>(
      t, {"StatusFrame",
          StatusFrame{},
          {{"status", [](auto &x) { x.status = all16; }}, {"mn", [](auto &x) { x.mn = {all32}; }}},
          {{"type", value(FrameType::status)}, {"flags", 0}}});
}

void atomic_frame__is_as_written(void **) {
  AtomicFrame a;
  a.flags = frame_flag::cq_data;
  a.targets = one_target();
  check<AtomicFrame>(read_tables(),
                     {"AtomicFrame",
                      a,
                      with_target<AtomicFrame>({{"len", [](auto &x) { x.len = all16; }},
                                                {"mn", [](auto &x) { x.mn = {all32}; }},
                                                {"reader", [](auto &x) { x.reader = OpId{all64}; }},
                                                {"op", [](auto &x) { x.op = all8; }},
                                                {"datatype", [](auto &x) { x.datatype = all8; }},
                                                {"kind", [](auto &x) { x.kind = all8; }},
                                                {"offset", [](auto &x) { x.offset = all32; }},
                                                {"data", [](auto &x) { x.data = all64; }}}),
                      {{"type", value(FrameType::atomic)}, {"flags", a.flags}, {"targets", 1}}});
}

void add_frame__is_as_written(void **) {
  check<AddFrame>(read_tables(), {"AddFrame",
                                  AddFrame{},
                                  {{"mn", [](auto &x) { x.mn = {all32}; }},
                                   {"key", [](auto &x) { x.key = all64; }},
                                   {"value", [](auto &x) { x.value = all64; }}},
                                  {{"type", value(FrameType::add)}, {"flags", 0}}});
}

void connection_frame__is_as_written(void **) {
  check<ConnectionFrame>(read_tables(), {"ConnectionFrame",
                                         ConnectionFrame{},
                                         {{"len", [](auto &x) { x.len = all16; }},
                                          {"mn", [](auto &x) { x.mn = {all32}; }},
                                          {"id", [](auto &x) { x.id = all64; }}},
                                         {{"type", value(FrameType::connect)}, {"flags", 0}}});
}

void handshake__is_as_written(void **) {
  const Tables t = read_tables();
  check<Hello>(t, {"Hello",
                   Hello{},
                   {{"version_min", [](auto &x) { x.version_min = all8; }},
                    {"version_max", [](auto &x) { x.version_max = all8; }},
                    {"address.port", [](auto &x) { x.address.port = all16; }},
                    {"max_datagram", [](auto &x) { x.max_datagram = all32; }},
                    {"features", [](auto &x) { x.features = all64; }},
                    {"incarnation", [](auto &x) { x.incarnation = Incarnation{all64}; }},
                    {"peer_incarnation", [](auto &x) { x.peer_incarnation = Incarnation{all64}; }},
                    {"token", [](auto &x) { x.token = Token{all64}; }},
                    {"address.ip", [](auto &x) { x.address.ip.fill(all8); }},
                    {"credit_limit", [](auto &x) { x.credit_limit = all32; }},
                    {"first_pn", [](auto &x) { x.first_pn = {all32}; }},
                    {"first_mn", [](auto &x) { x.first_mn = {all32}; }},
                    {"attempt", [](auto &x) { x.attempt = all32; }},
                    {"key", [](auto &x) { x.key.fill(std::byte{all8}); }},
                    {"cookie", [](auto &x) { x.cookie.fill(std::byte{all8}); }},
                    {"bulk_port", [](auto &x) { x.bulk_port = 0xffff; }}}});
  check<Challenge>(t,
                   {"Challenge",
                    Challenge{},
                    {{"version_min", [](auto &x) { x.version_min = all8; }},
                     {"version_max", [](auto &x) { x.version_max = all8; }},
                     {"attempt", [](auto &x) { x.attempt = all32; }},
                     {"incarnation", [](auto &x) { x.incarnation = Incarnation{all64}; }},
                     {"peer_incarnation", [](auto &x) { x.peer_incarnation = Incarnation{all64}; }},
                     {"peer_token", [](auto &x) { x.peer_token = Token{all64}; }},
                     {"cookie", [](auto &x) { x.cookie.fill(std::byte{all8}); }},
                     {"max_datagram", [](auto &x) { x.max_datagram = all32; }},
                     {"key", [](auto &x) { x.key.fill(std::byte{all8}); }}}});
  check<Reset>(t, {"Reset",
                   Reset{},
                   {{"token", [](auto &x) { x.token = Token{all64}; }},
                    {"incarnation", [](auto &x) { x.incarnation = Incarnation{all64}; }}}});
}

void probe__is_as_written(void **) {
  Probe p;
  p.kind = ProbeKind{0}, p.role = ProbeRole{0};
  check<Probe>(read_tables(), {"Probe",
                               p,
                               {{"version_min", [](auto &x) { x.version_min = all8; }},
                                {"version_max", [](auto &x) { x.version_max = all8; }},
                                {"kind", [](auto &x) { x.kind = ProbeKind{all8}; }},
                                {"role", [](auto &x) { x.role = ProbeRole{all8}; }},
                                {"sequence", [](auto &x) { x.sequence = all32; }},
                                {"length", [](auto &x) { x.length = all32; }},
                                {"answer_port", [](auto &x) { x.answer_port = all16; }},
                                {"asker", [](auto &x) { x.asker = all64; }},
                                {"cookie", [](auto &x) { x.cookie = all64; }},
                                {"asked", [](auto &x) { x.asked = all32; }},
                                {"heard", [](auto &x) { x.heard = all32; }},
                                {"max_datagram", [](auto &x) { x.max_datagram = all32; }},
                                {"key", [](auto &x) { x.key = all64; }}}});
}

void check_values(const char *heading, const std::map<std::string, int> &values) {
  const Tables t = read_tables();
  assert_int_equal(t.count(heading), 1);
  const auto &rows = t.at(heading);
  assert_int_equal(rows.size(), values.size());
  for (const Row &row : rows) {
    assert_int_equal(values.count(row[1]), 1);
    assert_int_equal(std::stoi(row[0]), values.at(row[1]));
  }
}

void types_and_flags__are_as_written(void **) {
  const auto packet = [](PacketType t) { return static_cast<int>(t); };
  check_values("Packet types", {{"data", packet(PacketType::data)},
                                {"ack", packet(PacketType::ack)},
                                {"hello", packet(PacketType::hello)},
                                {"challenge", packet(PacketType::challenge)},
                                {"confirm", packet(PacketType::confirm)},
                                {"welcome", packet(PacketType::welcome)},
                                {"reset", packet(PacketType::reset)},
                                {"bye", packet(PacketType::bye)},
                                {"datagram", packet(PacketType::datagram)},
                                {"probe", packet(PacketType::probe)}});
  check_values("Packet flags", {{"ack_block", packet_flag::ack_block},
                                {"checksummed", packet_flag::checksummed},
                                {"ack_now", packet_flag::ack_now},
                                {"ecn_echo", packet_flag::ecn_echo},
                                {"ack_soon", packet_flag::ack_soon}});
  check_values("Frame types", {{"pad", value(FrameType::pad)},
                               {"message", value(FrameType::message)},
                               {"tagged", value(FrameType::tagged)},
                               {"segment", value(FrameType::segment)},
                               {"rts", value(FrameType::rts)},
                               {"cts", value(FrameType::cts)},
                               {"rdata", value(FrameType::rdata)},
                               {"fin", value(FrameType::fin)},
                               {"write", value(FrameType::write)},
                               {"write_request", value(FrameType::write_request)},
                               {"read", value(FrameType::read)},
                               {"status", value(FrameType::status)},
                               {"atomic", value(FrameType::atomic)},
                               {"add", value(FrameType::add)},
                               {"connect", value(FrameType::connect)},
                               {"accept", value(FrameType::accept)},
                               {"ready", value(FrameType::ready)},
                               {"reject", value(FrameType::reject)},
                               {"shutdown", value(FrameType::shutdown)}});
  check_values("Frame flags", {{"cq_data", frame_flag::cq_data},
                               {"more", frame_flag::more},
                               {"want_processed", frame_flag::want_processed},
                               {"tagged", frame_flag::tagged},
                               {"pull", frame_flag::pull},
                               {"untold", frame_flag::untold}});
  check_values("Feature bits", {{"rma", feature::rma},
                                {"atomics", feature::atomics},
                                {"connections", feature::connections},
                                {"counters", feature::counters},
                                {"joined", feature::joined}});
}

// Names that the text gives to sizes and bounds.
void constants__are_those_of_the_text(void **) {
  assert_int_equal(packet_header_size, 24);
  assert_int_equal(AckBlock::fixed_size, 16);
  assert_int_equal(AckBlock::max_sack_words, 16);
  assert_int_equal(max_rts_regions, 16);
  assert_int_equal(max_targets, 8);
  assert_int_equal(max_status, 4095);
  assert_int_equal(max_atomic_kind, 2);
  assert_int_equal(max_atomic_total, 65535);
  assert_int_equal(max_connection_data, 256);
  assert_int_equal(credit_unit, 64);
  assert_int_equal(hello_size, 112);
  assert_int_equal(challenge_size, 72);
  assert_int_equal(reset_size, 16);
  assert_int_equal(probe_size, 56);
}

const CMUnitTest cases[] = {
    cmocka_unit_test(headers__are_as_written),
    cmocka_unit_test(message_frames__are_as_written),
    cmocka_unit_test(rendezvous_frames__are_as_written),
    cmocka_unit_test(rma_frames__are_as_written),
    cmocka_unit_test(atomic_frame__is_as_written),
    cmocka_unit_test(add_frame__is_as_written),
    cmocka_unit_test(connection_frame__is_as_written),
    cmocka_unit_test(handshake__is_as_written),
    cmocka_unit_test(probe__is_as_written),
    cmocka_unit_test(types_and_flags__are_as_written),
    cmocka_unit_test(constants__are_those_of_the_text),
};
const unit::Group group{"protocol", cases};

} // namespace
