# Macros of dpdkx's configure. What is missing is gathered in dpdkx_missing, so
# that one run of configure names every Debian package at once.

# DPDKX_PKG(VAR, MODULE, DEBIAN-PACKAGE): a library known by pkg-config.
AC_DEFUN([DPDKX_PKG], [
  PKG_CHECK_MODULES([$1], [$2], [], [dpdkx_missing="$dpdkx_missing $3"])
])

# DPDKX_HEADER(HEADER, DEBIAN-PACKAGE): a C++ header without a pkg-config file.
AC_DEFUN([DPDKX_HEADER], [
  AC_CHECK_HEADER([$1], [], [dpdkx_missing="$dpdkx_missing $2"])
])

# DPDKX_PC_PATH(DIR, MODULE): puts the folder under DIR that holds MODULE.pc
# first in pkg-config's path; an error if there is none.
AC_DEFUN([DPDKX_PC_PATH], [
  dpdkx_pc=
  for dpdkx_dir in "$1"/lib/pkgconfig "$1"/lib64/pkgconfig "$1"/lib/*/pkgconfig; do
    AS_IF([test -z "$dpdkx_pc" && test -f "$dpdkx_dir/$2.pc"], [dpdkx_pc=$dpdkx_dir])
  done
  AS_IF([test -z "$dpdkx_pc"],
        [AC_MSG_ERROR([$2.pc not found under $1/lib, $1/lib64 or $1/lib/*: give the prefix that $2 was installed with])])
  PKG_CONFIG_PATH=$dpdkx_pc${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
  export PKG_CONFIG_PATH
])

# DPDKX_CXX20: C++20 with the library parts that the code uses.
AC_DEFUN([DPDKX_CXX20], [
  CXX="$CXX -std=c++20"
  AC_CACHE_CHECK([whether $CXX is C++20], [dpdkx_cv_cxx20],
    [AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
       #include <bit>
       #include <compare>
       #include <concepts>
       #include <span>
       static_assert(std::has_single_bit(8u));
       template <std::integral T> struct Number {
         T value;
         auto operator<=>(const Number &) const = default;
       };
     ]], [[
       int a[] = {1, 2};
       return std::span(a).size() == 2 && Number<int>{1} < Number<int>{2} ? 0 : 1;
     ]])], [dpdkx_cv_cxx20=yes], [dpdkx_cv_cxx20=no])])
  AS_IF([test "$dpdkx_cv_cxx20" != yes],
        [AC_MSG_ERROR([$CXX does not compile C++20: use g++ 12, clang++ 14 or later (Debian package g++)])])
])

# DPDKX_STATIC_LIBSTDCXX: STATIC_LIBSTDCXX, for linking a module with the parts
# of libstdc++ that it uses. Not for sanitizers, which look for the shared one.
AC_DEFUN([DPDKX_STATIC_LIBSTDCXX], [
  AS_CASE([$CXXFLAGS], [*-fsanitize*],
    [AS_IF([test "$enable_static_libstdcxx" = auto], [enable_static_libstdcxx=no])])
  AS_IF([test "$enable_static_libstdcxx" != no],
    [AC_CACHE_CHECK([whether a module can have its own libstdc++], [dpdkx_cv_static_libstdcxx],
      [dpdkx_save_LDFLAGS=$LDFLAGS dpdkx_save_LIBS=$LIBS
       LDFLAGS="$LDFLAGS -shared -fPIC" LIBS="-l:libstdc++.a $LIBS"
       dpdkx_save_CXXFLAGS=$CXXFLAGS CXXFLAGS="$CXXFLAGS -fPIC"
       AC_LINK_IFELSE([AC_LANG_SOURCE([[
         #include <string>
         std::string twice(const std::string &s) { return s + s; }
       ]])], [dpdkx_cv_static_libstdcxx=yes], [dpdkx_cv_static_libstdcxx=no])
       LDFLAGS=$dpdkx_save_LDFLAGS LIBS=$dpdkx_save_LIBS CXXFLAGS=$dpdkx_save_CXXFLAGS])
     AS_IF([test $dpdkx_cv_static_libstdcxx = yes], [STATIC_LIBSTDCXX=-l:libstdc++.a],
       [test "$enable_static_libstdcxx" = yes],
       [AC_MSG_ERROR([--enable-static-libstdcxx: $CXX finds no libstdc++.a that a module can be linked with])])])
  AC_SUBST([STATIC_LIBSTDCXX])
])

# DPDKX_NO_UNDEFINED: NO_UNDEFINED, for linking a module or library of which nothing may be missing.
# What sanitizers add may: clang puts their runtimes into programs only.
AC_DEFUN([DPDKX_NO_UNDEFINED], [
  AS_CASE([$CXXFLAGS], [*-fsanitize*], [NO_UNDEFINED=], [NO_UNDEFINED=-Wl,-z,defs])
  AC_SUBST([NO_UNDEFINED])
])

# DPDKX_LTO: LTO_CXXFLAGS, for compiling the rooms and for linking the products;
# NO_LTO, for linking anything else with the same objects. Of itself only where
# the code is to be fast.
AC_DEFUN([DPDKX_LTO], [
  AS_CASE([$CXXFLAGS], [*-fsanitize*|*--coverage*|*-O0*|*-O1*|*-flto*],
    [AS_IF([test "$enable_lto" = auto], [enable_lto=no])])
  LTO_CXXFLAGS= NO_LTO=
  AS_IF([test "$enable_lto" != no],
    [AC_CACHE_CHECK([whether $CXX optimises across files], [dpdkx_cv_lto],
      [dpdkx_save_CXXFLAGS=$CXXFLAGS CXXFLAGS="$CXXFLAGS -Werror -flto=auto -ffat-lto-objects"
       AC_LINK_IFELSE([AC_LANG_PROGRAM], [dpdkx_cv_lto=yes], [dpdkx_cv_lto=no])
       CXXFLAGS=$dpdkx_save_CXXFLAGS])
     AS_IF([test $dpdkx_cv_lto = yes],
       [LTO_CXXFLAGS="-flto=auto -ffat-lto-objects" NO_LTO=-fno-lto],
       [test "$enable_lto" = yes],
       [AC_MSG_ERROR([--enable-lto: $CXX can't compile with -flto=auto -ffat-lto-objects; g++ can])])])
  AC_SUBST([LTO_CXXFLAGS])
  AC_SUBST([NO_LTO])
])

# DPDKX_MPI(VAR, NAME, PROGRAM): an MPI with persistent collectives, by its
# compiler wrapper, which the user may name as VAR_MPICC. VAR_CPPFLAGS and
# VAR_LIBS for C++ that calls it, and have_VAR, which is no without one.
AC_DEFUN([DPDKX_MPI], [
  AC_ARG_VAR([$1_MPICC], [$2's C compiler wrapper, for libdpdkx-coll @<:@default: $3@:>@])
  AC_PATH_PROG([$1_MPICC], [$3])
  have_$1=no $1_CPPFLAGS= $1_LIBS=
  AS_IF([test -n "$$1_MPICC"],
    [AS_IF([dpdkx_show=`"$$1_MPICC" -show 2>/dev/null`], [],
       [AC_MSG_ERROR([$1_MPICC: '$$1_MPICC -show' fails; the compiler wrapper of $2 is wanted])])
     for dpdkx_word in $dpdkx_show; do
       AS_CASE([$dpdkx_word],
         [-I*],
           [dpdkx_word=`AS_ECHO(["$dpdkx_word"]) | sed 's/^-I/-isystem /'`
            AS_CASE([" $$1_CPPFLAGS "], [*" $dpdkx_word "*], [],
              [$1_CPPFLAGS="$$1_CPPFLAGS $dpdkx_word"])],
         [-L*|-l*], [$1_LIBS="$$1_LIBS $dpdkx_word"])
     done
     AC_MSG_CHECKING([for persistent collectives of $2])
     dpdkx_save_CPPFLAGS=$CPPFLAGS dpdkx_save_LIBS=$LIBS
     CPPFLAGS="$CPPFLAGS $$1_CPPFLAGS" LIBS="$$1_LIBS $LIBS"
     AC_LINK_IFELSE([AC_LANG_PROGRAM([[
         #define OMPI_SKIP_MPICXX 1
         #define MPICH_SKIP_MPICXX 1
         #include <mpi.h>
         #if defined(OPEN_MPI) && OMPI_MAJOR_VERSION < 5
         #include <mpi-ext.h>
         #define made PMPIX_Barrier_init
         #else
         #define made PMPI_Barrier_init
         #endif
       ]], [[
         MPI_Request r;
         return made(MPI_COMM_WORLD, MPI_INFO_NULL, &r);
       ]])], [have_$1=yes])
     CPPFLAGS=$dpdkx_save_CPPFLAGS LIBS=$dpdkx_save_LIBS
     AC_MSG_RESULT([$have_$1])])
  AC_SUBST([$1_CPPFLAGS])
  AC_SUBST([$1_LIBS])
])
