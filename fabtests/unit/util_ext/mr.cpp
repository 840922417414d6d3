// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "util_ext/mr.h"

#include "fake.h"

#include <cstring>

#include "unit/unit.h"

using util_ext::Mr;
using util_ext::MrTable;

namespace {

// Reached through a fid, as a provider's domain is.
struct MrDomain : fid_domain {
  explicit MrDomain(std::uint32_t api_version = FI_VERSION(1, 17))
      : fid_domain(), impl(FI_THREAD_SAFE, FI_PROGRESS_MANUAL, api_version) {
    mr = Mr::ops<MrDomain>();
  }
  static fake::Domain &from(struct fid *f) {
    return static_cast<MrDomain *>(reinterpret_cast<fid_domain *>(f))->impl;
  }
  fake::Domain impl;
};

constexpr std::uint64_t remote = FI_REMOTE_READ | FI_REMOTE_WRITE;
char memory[100];

void reg__gives_the_key_that_was_asked_for(void **) {
  MrDomain d;
  fid_mr *mr, *second;
  int context;
  assert_int_equal(fi_mr_reg(&d, memory, 100, remote, 0, 0xabc, 0, &mr, &context), 0);
  assert_int_equal(fi_mr_key(mr), 0xabc);
  assert_ptr_equal(fi_mr_desc(mr), mr);
  assert_ptr_equal(mr->fid.context, &context);
  assert_true(d.impl.in_use());
  assert_int_equal(fi_mr_reg(&d, memory, 100, remote, 0, 0xabc, 0, &second, nullptr), -FI_ENOKEY);
  MrTable::Access a;
  assert_int_equal(d.impl.regions.access(0xabc, 99, 1, remote, a), 0);
  a.end();
  assert_int_equal(fi_close(&mr->fid), 0);
  assert_int_equal(d.impl.regions.access(0xabc, 99, 1, remote, a), -FI_ENOKEY);
  assert_false(d.impl.in_use());
  fake::take_log();
}

void reg__by_modes_of_the_provider(void **) {
  for (const int mode : {FI_MR_PROV_KEY | FI_MR_VIRT_ADDR, 1 /* FI_MR_BASIC */}) {
    MrDomain d;
    d.impl.limits.mr_mode = mode;
    fid_mr *a, *b;
    assert_int_equal(fi_mr_reg(&d, memory, 100, remote, 0, 1, 0, &a, nullptr), 0);
    assert_int_equal(fi_mr_reg(&d, memory, 100, remote, 0, 1, 0, &b, nullptr), 0);
    assert_true(fi_mr_key(a) != fi_mr_key(b));
    MrTable::Access access;
    const auto addr = reinterpret_cast<std::uintptr_t>(memory);
    assert_int_equal(d.impl.regions.access(fi_mr_key(a), addr, 100, remote, access), 0);
    access.end();
    assert_int_equal(d.impl.regions.access(fi_mr_key(a), 0, 1, remote, access), -FI_EACCES);
    fi_close(&a->fid);
    fi_close(&b->fid);
  }
}

void reg__for_local_access_needs_no_key_of_its_own(void **) {
  MrDomain d;
  fid_mr *a, *b, *c;
  assert_int_equal(fi_mr_reg(&d, memory, 100, FI_SEND, 0, 5, 0, &a, nullptr), 0);
  assert_int_equal(fi_mr_reg(&d, memory, 100, FI_RECV | FI_READ | FI_WRITE, 0, 5, 0, &b, nullptr),
                   0);
  assert_int_equal(fi_mr_reg(&d, memory, 100, 0, 0, 5, 0, &c, nullptr), 0);
  assert_int_equal(fi_mr_key(a), 5);
  assert_int_equal(Mr::from(&a->fid)->access(), FI_SEND);
  MrTable::Access access;
  assert_int_equal(d.impl.regions.access(5, 0, 1, FI_REMOTE_READ, access), -FI_ENOKEY);
  for (fid_mr *mr : {a, b, c})
    fi_close(&mr->fid);
}

void regv__joins_buffers(void **) {
  MrDomain d;
  fid_mr *mr;
  const iovec iov[] = {{memory, 10}, {memory + 50, 10}};
  assert_int_equal(fi_mr_regv(&d, iov, 2, remote, 0, 1, 0, &mr, nullptr), 0);
  MrTable::Access a;
  assert_int_equal(d.impl.regions.access(1, 5, 10, remote, a), 0);
  iovec out[2];
  assert_int_equal(a.pieces(out, 2), 2);
  assert_ptr_equal(out[0].iov_base, memory + 5);
  assert_ptr_equal(out[1].iov_base, memory + 50);
  assert_int_equal(out[1].iov_len, 5);
  a.end();
  fi_close(&mr->fid);
}

void regattr__refuses_what_it_cannot_do_and_says_so(void **) {
  MrDomain d;
  d.impl.limits.mr_iov_limit = 2;
  d.impl.limits.mr_key_size = 4;
  fid_mr *mr;
  const iovec iov[3] = {{memory, 1}, {memory, 1}, {memory, 1}};
  fi_mr_attr good{};
  good.mr_iov = iov;
  good.iov_count = 2;
  good.access = remote;
  std::uint8_t key[4] = {};
  const auto rc = [&](auto &&change, std::uint64_t flags = 0) {
    fi_mr_attr attr = good;
    change(attr);
    const int result = fi_mr_regattr(&d, &attr, flags, &mr);
    if (result == 0)
      fi_close(&mr->fid);
    return result;
  };
  assert_int_equal(rc([](fi_mr_attr &) {}), 0);
  assert_int_equal(rc([](fi_mr_attr &) {}, FI_RMA_EVENT), 0);
  assert_int_equal(rc([](fi_mr_attr &) {}, FI_RMA_PMEM), -FI_EBADFLAGS);
  assert_int_equal(rc([](fi_mr_attr &a) { a.access = FI_TAGGED; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_mr_attr &a) { a.offset = 1; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_mr_attr &a) { a.iov_count = 0; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_mr_attr &a) { a.iov_count = 3; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_mr_attr &a) { a.mr_iov = nullptr; }), -FI_EINVAL);
  assert_int_equal(rc([](fi_mr_attr &a) { a.requested_key = 1ULL << 32; }), -FI_EKEYREJECTED);
  assert_int_equal(rc([](fi_mr_attr &a) { a.iface = FI_HMEM_CUDA; }), -FI_ENOSYS);
  assert_int_equal(rc([&](fi_mr_attr &a) { a.auth_key_size = 4, a.auth_key = key; }), -FI_ENOSYS);
  assert_int_equal(fake::take_log().size(), 9);
  assert_int_equal(fi_mr_regattr(&d, nullptr, 0, &mr), -FI_EINVAL);
  assert_int_equal(fi_mr_reg(&d, nullptr, ~std::size_t{0}, remote, 0, 0, 0, &mr, nullptr), 0);
  fi_close(&mr->fid);
  assert_int_equal(fi_mr_reg(&d, memory, ~std::size_t{0}, remote, 0, 0, 0, &mr, nullptr),
                   -FI_EINVAL);
  fake::take_log();
}

void regattr__does_not_read_what_an_old_application_lacks(void **) {
  MrDomain d(FI_VERSION(1, 4));
  fid_mr *mr;
  const iovec iov{memory, 1};
  fi_mr_attr attr{};
  attr.mr_iov = &iov;
  attr.iov_count = 1;
  attr.auth_key_size = 77;
  attr.iface = FI_HMEM_CUDA;
  assert_int_equal(fi_mr_regattr(&d, &attr, 0, &mr), 0);
  fi_close(&mr->fid);
}

fid_cntr *counter(fake::Domain &domain) {
  fi_cntr_attr attr{};
  fid_cntr *cntr = nullptr;
  assert_int_equal(util_ext::Cntr::open(domain, &attr, &cntr, nullptr), 0);
  return cntr;
}

void bind__counters_count_the_accesses_that_they_are_for(void **) {
  for (const bool separate : {false, true}) {
    MrDomain d;
    fid_mr *mr;
    fid_cntr *reads = counter(d.impl), *writes = separate ? counter(d.impl) : reads;
    assert_int_equal(fi_mr_reg(&d, memory, 100, remote, 0, 7, FI_RMA_EVENT, &mr, nullptr), 0);
    MrTable::Access a;
    assert_int_equal(d.impl.regions.access(7, 0, 100, remote, a), 0);
    assert_null(a.counter(FI_REMOTE_WRITE)); // nobody wants to know yet
    if (separate) {
      assert_int_equal(fi_mr_bind(mr, &reads->fid, FI_REMOTE_READ), 0);
      assert_int_equal(fi_mr_bind(mr, &writes->fid, FI_REMOTE_WRITE), 0);
    } else {
      assert_int_equal(fi_mr_bind(mr, &reads->fid, remote), 0);
    }
    assert_int_equal(fi_mr_enable(mr), 0);
    assert_ptr_equal(a.counter(FI_REMOTE_READ), util_ext::Cntr::from(&reads->fid));
    assert_ptr_equal(a.counter(FI_REMOTE_WRITE), util_ext::Cntr::from(&writes->fid));
    a.end();
    assert_int_equal(fi_close(&reads->fid), -FI_EBUSY);
    assert_int_equal(fi_close(&mr->fid), 0);
    assert_int_equal(fi_close(&reads->fid), 0);
    if (separate)
      assert_int_equal(fi_close(&writes->fid), 0);
  }
}

void bind__refuses_what_a_region_cannot_have(void **) {
  MrDomain d, other;
  fid_mr *mr;
  fid_cntr *cntr = counter(d.impl), *foreign = counter(other.impl);
  assert_int_equal(fi_mr_reg(&d, memory, 1, remote, 0, 0, 0, &mr, nullptr), 0);
  assert_int_equal(fi_mr_bind(mr, &mr->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, nullptr, 0), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, 0), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, FI_REMOTE_READ | FI_WRITE), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, &foreign->fid, FI_REMOTE_READ), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, FI_REMOTE_READ), 0);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, remote), -FI_EINVAL);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, FI_REMOTE_WRITE), 0);
  assert_int_equal(fi_mr_bind(mr, &cntr->fid, FI_REMOTE_WRITE), -FI_EINVAL);
  fi_close(&mr->fid);
  fi_close(&cntr->fid);
  fi_close(&foreign->fid);
  fake::take_log();
}

void bind__of_endpoints_and_enable_change_nothing(void **) {
  MrDomain d;
  fid_mr *mr;
  fid_ep ep{};
  ep.fid.fclass = FI_CLASS_EP;
  assert_int_equal(fi_mr_reg(&d, memory, 1, remote, 0, 7, 0, &mr, nullptr), 0);
  assert_int_equal(fi_mr_bind(mr, &ep.fid, 0), 0);
  assert_int_equal(fi_mr_bind(mr, &ep.fid, FI_REMOTE_READ), -FI_EINVAL);
  for (int i = 0; i < 2; ++i) {
    MrTable::Access a;
    assert_int_equal(d.impl.regions.access(7, 0, 1, remote, a), 0);
    assert_int_equal(fi_mr_enable(mr), 0);
  }
  assert_int_equal(fi_mr_refresh(mr, nullptr, 0, 0), -FI_ENOSYS);
  fi_close(&mr->fid);
}

void raw_key__is_the_key(void **) {
  MrDomain d;
  fid_mr *mr;
  fi_mr_reg(&d, memory, 1, remote, 0, 0x77, 0, &mr, nullptr);
  std::uint64_t base = 9, key = 0;
  std::uint8_t raw[8];
  std::size_t size = 4;
  assert_int_equal(fi_mr_raw_attr(mr, &base, raw, &size, 0), -FI_ETOOSMALL);
  assert_int_equal(size, 8);
  assert_int_equal(fi_mr_raw_attr(mr, &base, raw, &size, 0), 0);
  assert_int_equal(base, 0);
  assert_int_equal(util_ext::map_raw_key({0, base, raw, size, &key}), 0);
  assert_int_equal(key, 0x77);
  assert_int_equal(util_ext::map_raw_key({0, base, raw, 7, &key}), -FI_EINVAL);
  fi_close(&mr->fid);
}

} // namespace

static const CMUnitTest cases[] = {
    cmocka_unit_test(reg__gives_the_key_that_was_asked_for),
    cmocka_unit_test(reg__by_modes_of_the_provider),
    cmocka_unit_test(reg__for_local_access_needs_no_key_of_its_own),
    cmocka_unit_test(regv__joins_buffers),
    cmocka_unit_test(regattr__refuses_what_it_cannot_do_and_says_so),
    cmocka_unit_test(regattr__does_not_read_what_an_old_application_lacks),
    cmocka_unit_test(bind__counters_count_the_accesses_that_they_are_for),
    cmocka_unit_test(bind__refuses_what_a_region_cannot_have),
    cmocka_unit_test(bind__of_endpoints_and_enable_change_nothing),
    cmocka_unit_test(raw_key__is_the_key),
};
static const unit::Group group{"mr", cases};
