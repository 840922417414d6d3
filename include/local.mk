# The public extension: a header, and where pkg-config finds it.
extdir = $(includedir)/rdma
ext_HEADERS = include/rdma/fi_ext_dpdkx.h include/rdma/fi_dpdkx_emulation.h
pkgconfigdir = $(libdir)/pkgconfig
nodist_pkgconfig_DATA = include/dpdkx-ext.pc include/dpdkx-emulation.pc
