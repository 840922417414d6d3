// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#include "dpdkx/passive_endpoint.h"

#include "dpdkx/address_format.h"
#include "dpdkx/domain.h"
#include "dpdkx/key_digest.h"
#include "dpdkx/links.h"
#include "dpdkx/provider.h"
#include "util_ext/ops.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <unistd.h>

namespace dpdkx {

namespace {

PassiveEndpoint &pep_of(struct fid *f) { return PassiveEndpoint::from(f); }

int close_pep(struct fid *f) {
  return util_ext::guard([&] { return pep_of(f).close(); });
}

int control_pep(struct fid *f, int command, void *arg) {
  if (command != FI_BACKLOG)
    return -FI_ENOSYS;
  return arg ? util_ext::guard([&] { return pep_of(f).set_backlog(*static_cast<int *>(arg)); })
             : -FI_EINVAL;
}

int bind_pep(struct fid *f, struct fid *other, std::uint64_t flags) {
  return other ? util_ext::guard([&] { return pep_of(f).bind(other, flags); }) : -FI_EINVAL;
}

int set_name(fid_t f, void *address, std::size_t len) {
  return util_ext::guard([&] { return pep_of(f).set_name(address, len); });
}

int get_name(fid_t f, void *address, std::size_t *len) {
  return util_ext::guard([&] { return pep_of(f).get_name(address, len); });
}

int listen_pep(fid_pep *f) {
  return util_ext::guard([&] { return PassiveEndpoint::from(f).listen(); });
}

int reject_pep(fid_pep *f, fid_t handle, const void *data, std::size_t len) {
  return util_ext::guard([&] { return PassiveEndpoint::from(f).reject(handle, data, len); });
}

int get_option(fid_t, int level, int name, void *value, std::size_t *len) {
  if (level != FI_OPT_ENDPOINT || name != FI_OPT_CM_DATA_SIZE)
    return -FI_ENOPROTOOPT;
  if (!value || !len)
    return -FI_EINVAL;
  constexpr std::size_t size = max_cm_data;
  const std::size_t room = *len;
  *len = sizeof(size);
  if (room < sizeof(size))
    return -FI_ETOOSMALL;
  std::memcpy(value, &size, sizeof(size));
  return 0;
}

int set_option(fid_t, int, int, const void *, std::size_t) { return -FI_ENOPROTOOPT; }

fi_ops_cm passive_cm_ops = [] {
  auto t = util_ext::all_missing<fi_ops_cm>();
  t.setname = set_name;
  t.getname = get_name;
  t.listen = listen_pep;
  t.reject = reject_pep;
  return t;
}();

fi_ops_ep passive_ep_ops = [] {
  auto t = util_ext::all_missing<fi_ops_ep>();
  t.getopt = get_option;
  t.setopt = set_option;
  return t;
}();

fi_ops passive_fid_ops = [] {
  auto t = util_ext::all_missing<fi_ops>();
  t.close = close_pep;
  t.bind = bind_pep;
  t.control = control_pep;
  return t;
}();

// fi_freeinfo() frees it.
void set_address(std::uint32_t format, const Address &address, void *&place, std::size_t &len) {
  const AddressBytes bytes = write_address(format, address);
  void *copy = bytes.empty() ? nullptr : std::malloc(bytes.size());
  if (!copy && !bytes.empty())
    throw std::bad_alloc();
  if (copy)
    std::memcpy(copy, bytes.data(), bytes.size());
  std::free(place);
  place = copy;
  len = bytes.size();
}

util_ext::InfoPtr duplicate(const fi_info &info) {
  util_ext::InfoPtr copy(fi_dupinfo(&info));
  if (!copy)
    throw std::bad_alloc();
  return copy;
}

int check_info(const fi_info *info) {
  if (!info || !info->ep_attr || !info->domain_attr || !info->fabric_attr)
    return -FI_EINVAL;
  if (const unsigned type = util_ext::raw(info->ep_attr->type); type != FI_EP_MSG) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "passive endpoint of type %u; allowed: FI_EP_MSG\n", type);
    return -FI_EINVAL;
  }
  return check_format(info->addr_format);
}

} // namespace

int check_cm_data(const void *data, std::size_t len) {
  if (len <= max_cm_data && (data || len == 0))
    return 0;
  FI_WARN(&provider, FI_LOG_EP_CTRL, "%zu bytes of connection data%s; allowed: %zu\n", len,
          data ? "" : " at a null pointer", max_cm_data);
  return -FI_EINVAL;
}

// ---- life

PassiveEndpoint::PassiveEndpoint(Fabric &fabric, util_ext::InfoPtr info, const Address &source,
                                 void *context)
    : handle_{{}, *this}, fabric_(fabric), info_(std::move(info)), owner_(getpid()),
      source_(source), backlog_(fabric.settings().listen_backlog) {
  handle_.fid = {FI_CLASS_PEP, context, &passive_fid_ops};
  handle_.ops = &passive_ep_ops;
  handle_.cm = &passive_cm_ops;
  fabric_->add_passive(*this);
}

PassiveEndpoint::~PassiveEndpoint() { fabric_->remove_passive(*this); }

bool PassiveEndpoint::inherited() const { return getpid() != owner_; }

int PassiveEndpoint::open(Fabric &fabric, const fi_info *info, fid_pep **out, void *context) {
  if (!out)
    return -FI_EINVAL;
  if (const int rc = check_info(info))
    return rc;
  Address source = Address::v4(0, 0);
  if (const int rc = read_source(*info, source))
    return rc;
  if (!info->src_addr && info->addr_format == FI_SOCKADDR_IN6)
    source = Address{};
  *out = &(new PassiveEndpoint(fabric, duplicate(*info), source, context))->handle_;
  return 0;
}

int PassiveEndpoint::close() {
  if (inherited()) { // what it has is the parent's
    (void)listener_.release();
    return 0;
  }
  if (listener_) {
    listener_->close();
    if (listener_->needed())
      fabric_->keep(std::move(listener_));
    listener_.reset();
  }
  if (eq_)
    eq_->forget(&handle_.fid);
  delete this;
  return 0;
}

int PassiveEndpoint::bind(struct fid *other, std::uint64_t flags) {
  if (other->fclass != FI_CLASS_EQ || flags) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "bind: an object of class %zu with flags %#llx; allowed: an event queue, no flags\n",
            other->fclass, static_cast<unsigned long long>(flags));
    return -FI_EINVAL;
  }
  util_ext::Eq &eq = *util_ext::Eq::from(other);
  if (eq_ || &eq.fabric() != &*fabric_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "bind: %s\n",
            eq_ ? "the passive endpoint has an event queue already"
                : "the event queue is of another fabric; allowed: the passive endpoint's own");
    return -FI_EINVAL;
  }
  eq_ = util_ext::Hold(eq);
  return 0;
}

// ---- where it is

int PassiveEndpoint::open_place() {
  if (placed_)
    return 0;
  fabric_->reap(); // the port may be one of theirs
  const Settings &settings = fabric_->settings();
  if (const int rc = open_device_of(settings, *info_, place_.device))
    return rc;
  const std::uint32_t tclass = info_->tx_attr && info_->tx_attr->tclass
                                   ? info_->tx_attr->tclass
                                   : info_->domain_attr->tclass;
  if (const int rc =
          open_links(settings, place_.device.get(), source_, tclass, place_.links, place_.self))
    return rc;
  placed_ = true;
  FI_INFO(&provider, FI_LOG_EP_CTRL, "passive endpoint at %s\n", to_string(place_.self).c_str());
  return 0;
}

int PassiveEndpoint::set_name(const void *address, std::size_t len) {
  if (placed_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "fi_setname: others may know the name already; allowed: before fi_getname and "
            "fi_listen\n");
    return -FI_EOPBADSTATE;
  }
  Address source;
  if (!address || read_address(info_->addr_format, address, len, source) != 0)
    return refuse_address("fi_setname: the address", info_->addr_format);
  source_ = source;
  return 0;
}

int PassiveEndpoint::get_name(void *address, std::size_t *len) {
  if (!len || (*len && !address))
    return -FI_EINVAL;
  if (const int rc = open_place())
    return rc;
  return give_name(info_->addr_format, place_.self, address, len);
}

int PassiveEndpoint::give_place(Listener::Place &place, bool &placed) {
  if (listener_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "a passive endpoint that listens keeps its address; allowed in fi_info::handle: one "
            "that doesn't\n");
    return -FI_EOPBADSTATE;
  }
  placed = placed_;
  place = std::move(place_);
  if (!placed)
    place.self = source_;
  placed_ = false;
  place_ = {};
  return 0;
}

// ---- requests

int PassiveEndpoint::set_backlog(int requests) {
  if (listener_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "FI_BACKLOG: allowed before fi_listen\n");
    return -FI_EOPBADSTATE;
  }
  if (requests < 1) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "FI_BACKLOG: %d requests; allowed: 1 or more\n", requests);
    return -FI_EINVAL;
  }
  backlog_ = static_cast<std::size_t>(requests);
  return 0;
}

int PassiveEndpoint::listen() {
  if (listener_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "fi_listen: the endpoint listens already\n");
    return -FI_EOPBADSTATE;
  }
  if (!eq_) {
    FI_WARN(&provider, FI_LOG_EP_CTRL, "listen: no event queue is bound\n");
    return -FI_ENOEQ;
  }
  if (const int rc = open_place())
    return rc;
  engine::Config config = fabric_->settings().engine;
  config.session.key = key_of(*info_, config.session.key);
  Listener::Place place{place_.device, std::move(place_.links), place_.self};
  return Listener::open(*fabric_, *this, config, backlog_, std::move(place), listener_);
}

util_ext::InfoPtr PassiveEndpoint::info_for(const Address &caller) const {
  util_ext::InfoPtr info = duplicate(*info_);
  set_address(info->addr_format, place_.self, info->src_addr, info->src_addrlen);
  set_address(info->addr_format, caller, info->dest_addr, info->dest_addrlen);
  info->fabric_attr->api_version = fabric_->api_version();
  return info;
}

int PassiveEndpoint::tell(util_ext::InfoPtr info, std::span<const std::byte> data) {
  return eq_->write_connection(FI_CONNREQ, &handle_.fid, std::move(info), data);
}

int PassiveEndpoint::reject(const struct fid *handle, const void *data, std::size_t len) {
  if (const int rc = check_cm_data(data, len))
    return rc;
  const auto request = listener_ ? fabric_->requests.take(handle, listener_.get()) : nullptr;
  if (!request) {
    FI_WARN(&provider, FI_LOG_EP_CTRL,
            "reject: no request of this passive endpoint has that handle, or it has been answered "
            "or taken by an endpoint already\n");
    return -FI_EINVAL;
  }
  listener_->reject(*request, cm_data(data, len));
  return 0;
}

} // namespace dpdkx
