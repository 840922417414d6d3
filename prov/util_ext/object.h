// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// What objects that applications open and close have in common: who holds them
// open, how they come to be, and how they go.
#pragma once

#include "util_ext/lock.h"
#include "util_ext/ops.h"

#include <memory>

namespace util_ext {

// Users hold an object open: closing it answers -FI_EBUSY while there are any.
class Holdable {
public:
  void acquire() { users_.add(); }
  void release() { users_.drop(); }
  bool in_use() const { return users_.count() != 0; }

protected:
  // `shared`: several threads at a time may acquire and release it.
  explicit Holdable(bool shared = true) : users_(shared) {}
  ~Holdable() = default;

private:
  UseCount users_;
};

// Holds an object open for as long as it lives; or none. Where it is the first
// member of a class, it lets go last.
template <class T> class Hold {
public:
  Hold() = default;
  explicit Hold(T &object) : object_(&object) { object.acquire(); }
  Hold(Hold &&other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Hold &operator=(Hold &&other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Hold() {
    if (object_)
      object_->release();
  }

  explicit operator bool() const { return object_ != nullptr; }
  T &operator*() const { return *object_; }
  T *operator->() const { return object_; }

private:
  T *object_ = nullptr;
};

// The base of class T, which applications hold as an F (fid_cq, fid_av, ...).
// T's constructor takes what make() passes on. T may have bind() and control()
// as the C interface wants them, and befriends this class.
template <class T, class F> class Object : public F, public Holdable {
public:
  static T *from(struct fid *f) { return static_cast<T *>(reinterpret_cast<F *>(f)); }
  static bool is(const F *f) { return f && f->fid.ops == fid_ops(); }

protected:
  explicit Object(bool shared = true) : F(), Holdable(shared) {}
  ~Object() = default;

  // What T::open() ends with. 0 or a negative FI_E*; T::start() may fail, too.
  template <class... Args> static int make(F **out, Args &&...args) {
    return guard([&] {
      std::unique_ptr<T, Deleter> object(new T(std::forward<Args>(args)...));
      if (const int rc = object->start(); rc != 0)
        return rc;
      *out = object.release();
      return 0;
    });
  }

  static fi_ops *fid_ops() {
    static fi_ops ops = [] {
      auto t = all_missing<fi_ops>();
      t.close = close;
      if constexpr (requires { &T::bind; })
        t.bind = T::bind;
      if constexpr (requires { &T::control; })
        t.control = T::control;
      return t;
    }();
    return &ops;
  }

  int start() { return 0; }

private:
  struct Deleter {
    void operator()(T *object) const { delete object; }
  };

  static int close(struct fid *f) noexcept {
    T *self = from(f);
    if (self->in_use())
      return -FI_EBUSY;
    delete self;
    return 0;
  }
};

} // namespace util_ext
