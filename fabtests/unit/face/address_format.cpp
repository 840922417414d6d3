// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/address_format.h"

#include <arpa/inet.h>
#include <cstring>
#include <rdma/fi_errno.h>

#include "unit/unit.h"

using namespace dpdkx;

namespace {

const Address v4 = Address::v4(0x0a000001, 4000);
const Address v6 = {{0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 4000};

} // namespace

static void address_format__there_and_back(void **) {
  for (const std::uint32_t format : {std::uint32_t{FI_SOCKADDR}, std::uint32_t{FI_SOCKADDR_IN},
                                     std::uint32_t{FI_SOCKADDR_IN6}, std::uint32_t{FI_ADDR_STR}})
    for (const Address &address : {v4, v6}) {
      const AddressBytes bytes = write_address(format, address);
      if (format == FI_SOCKADDR_IN && !address.is_v4()) {
        assert_true(bytes.empty());
        continue;
      }
      Address back;
      assert_int_equal(read_address(format, bytes.data(), bytes.size(), back), 0);
      assert_true(back == address);
    }
}

static void address_format__sizes(void **) {
  assert_int_equal(write_address(FI_SOCKADDR_IN, v4).size(), sizeof(sockaddr_in));
  assert_int_equal(write_address(FI_SOCKADDR, v4).size(), sizeof(sockaddr_in));
  assert_int_equal(write_address(FI_SOCKADDR_IN6, v4).size(), sizeof(sockaddr_in6));
  assert_int_equal(write_address(FI_ADDR_STR, v4).size(),
                   std::strlen("fi_sockaddr_in://10.0.0.1:4000") + 1);
}

static void address_format__the_wrong_family_or_length_is_refused(void **) {
  Address out;
  const AddressBytes in = write_address(FI_SOCKADDR_IN, v4),
                     in6 = write_address(FI_SOCKADDR_IN6, v6);
  assert_int_equal(read_address(FI_SOCKADDR_IN6, in.data(), in.size(), out), -FI_EINVAL);
  assert_int_equal(read_address(FI_SOCKADDR_IN, in6.data(), in6.size(), out), -FI_EINVAL);
  assert_int_equal(read_address(FI_SOCKADDR_IN, in.data(), in.size() - 1, out), -FI_EINVAL);
  assert_int_equal(read_address(FI_SOCKADDR, in.data(), 1, out), -FI_EINVAL);
  assert_int_not_equal(read_address(FI_ADDR_STR, "nonsense://1", 12, out), 0);
}

static const CMUnitTest cases[] = {
    cmocka_unit_test(address_format__there_and_back),
    cmocka_unit_test(address_format__sizes),
    cmocka_unit_test(address_format__the_wrong_family_or_length_is_refused),
};
static const unit::Group group{"address_format", cases};
