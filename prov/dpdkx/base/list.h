// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
//
// An intrusive doubly linked list: the elements carry the links, so that moving
// one between lists allocates nothing. It owns nothing.
#pragma once

#include <cstddef>

namespace dpdkx {

template <class T> struct ListLink {
  T *next = nullptr;
  T *prev = nullptr;
};

template <class T, ListLink<T> T::*Link> class List {
public:
  bool empty() const { return head_ == nullptr; }
  T *front() const { return head_; }
  T *back() const { return tail_; }
  static T *next(const T *item) { return (item->*Link).next; }

  void push_back(T *item) { insert_before(nullptr, item); }
  void push_front(T *item) { insert_before(head_, item); }

  // Before `at`; null: at the end.
  void insert_before(T *at, T *item) {
    T *prev = at ? (at->*Link).prev : tail_;
    (item->*Link) = {at, prev};
    (prev ? (prev->*Link).next : head_) = item;
    (at ? (at->*Link).prev : tail_) = item;
  }

  void erase(T *item) {
    ListLink<T> &link = item->*Link;
    (link.prev ? (link.prev->*Link).next : head_) = link.next;
    (link.next ? (link.next->*Link).prev : tail_) = link.prev;
    link = {};
  }

  T *pop_front() {
    T *item = head_;
    if (item) {
      head_ = next(item);
      (head_ ? (head_->*Link).prev : tail_) = nullptr;
      item->*Link = {};
    }
    return item;
  }

  // Everything of `other`, behind what is here.
  void splice_back(List &other) {
    while (T *item = other.pop_front())
      push_back(item);
  }

private:
  T *head_ = nullptr;
  T *tail_ = nullptr;
};

} // namespace dpdkx
