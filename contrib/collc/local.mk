# The collective schedule compiler: a library with a C interface, and a command
# on the same parts. It needs nothing of the provider's.
collc_sources = \
	contrib/collc/check/check.cpp contrib/collc/check/check.h \
	contrib/collc/check/execution.cpp contrib/collc/check/execution.h \
	contrib/collc/check/finding.h \
	contrib/collc/check/landing.cpp contrib/collc/check/landing.h \
	contrib/collc/check/levels.cpp contrib/collc/check/levels.h \
	contrib/collc/check/matching.cpp contrib/collc/check/matching.h \
	contrib/collc/check/memory.cpp contrib/collc/check/memory.h \
	contrib/collc/check/races.cpp contrib/collc/check/races.h \
	contrib/collc/check/result.cpp contrib/collc/check/result.h \
	contrib/collc/check/reuse.cpp contrib/collc/check/reuse.h \
	contrib/collc/check/reuse_model.cpp contrib/collc/check/reuse_model.h \
	contrib/collc/check/world.cpp contrib/collc/check/world.h \
	contrib/collc/ir/evaluate.cpp contrib/collc/ir/evaluate.h \
	contrib/collc/ir/expand.cpp contrib/collc/ir/expand.h \
	contrib/collc/ir/interpreter.cpp contrib/collc/ir/interpreter.h \
	contrib/collc/ir/rank_program.h \
	contrib/collc/ir/request.h \
	contrib/collc/lang/ast.h \
	contrib/collc/lang/builtin.cpp contrib/collc/lang/builtin.h \
	contrib/collc/lang/error.h \
	contrib/collc/lang/lexer.cpp contrib/collc/lang/lexer.h \
	contrib/collc/lang/parser.cpp contrib/collc/lang/parser.h \
	contrib/collc/lang/parser_base.cpp contrib/collc/lang/parser_base.h \
	contrib/collc/lang/setting.cpp contrib/collc/lang/setting.h \
	contrib/collc/lower/atomics.cpp contrib/collc/lower/atomics.h \
	contrib/collc/lower/landing.cpp contrib/collc/lower/landing.h \
	contrib/collc/lower/lower.cpp contrib/collc/lower/lower.h \
	contrib/collc/lower/options.h \
	contrib/collc/lower/plan.cpp contrib/collc/lower/plan.h \
	contrib/collc/lower/prematched.cpp \
	contrib/collc/lower/schedule.h \
	contrib/collc/lower/tanks.cpp \
	contrib/collc/report/goal.cpp contrib/collc/report/goal.h \
	contrib/collc/report/graph.cpp contrib/collc/report/graph.h \
	contrib/collc/report/grid.cpp contrib/collc/report/grid.h \
	contrib/collc/report/names.cpp contrib/collc/report/names.h \
	contrib/collc/report/program.cpp contrib/collc/report/program.h \
	contrib/collc/report/resources.cpp contrib/collc/report/resources.h \
	contrib/collc/report/simulation.cpp contrib/collc/report/simulation.h \
	contrib/collc/report/table.cpp contrib/collc/report/table.h \
	contrib/collc/simulate/cast.cpp contrib/collc/simulate/cast.h \
	contrib/collc/simulate/engine.cpp contrib/collc/simulate/engine.h \
	contrib/collc/simulate/loggops.cpp contrib/collc/simulate/loggops.h \
	contrib/collc/simulate/outline.cpp contrib/collc/simulate/outline.h \
	contrib/collc/simulate/part.cpp contrib/collc/simulate/part.h \
	contrib/collc/simulate/simulate.cpp contrib/collc/simulate/simulate.h \
	contrib/collc/simulate/sort_by_receiver.h \
	contrib/collc/simulate/uniform_loops.cpp contrib/collc/simulate/uniform_loops.h \
	contrib/collc/simulate/window_queue.h

# In the order of their names, by which they are found.
collc_algorithms = \
	contrib/collc/algorithms/allgather_bruck.coll \
	contrib/collc/algorithms/allgather_butterfly.coll \
	contrib/collc/algorithms/allgather_ring.coll \
	contrib/collc/algorithms/allreduce_butterfly.coll \
	contrib/collc/algorithms/alltoall_butterfly.coll \
	contrib/collc/algorithms/alltoall_pairwise.coll \
	contrib/collc/algorithms/barrier_butterfly.coll \
	contrib/collc/algorithms/barrier_dissemination.coll \
	contrib/collc/algorithms/broadcast_binary.coll \
	contrib/collc/algorithms/broadcast_binomial.coll \
	contrib/collc/algorithms/broadcast_chain.coll \
	contrib/collc/algorithms/broadcast_flat.coll \
	contrib/collc/algorithms/broadcast_kary.coll \
	contrib/collc/algorithms/broadcast_trinaryx3.coll \
	contrib/collc/algorithms/gather_binomial.coll \
	contrib/collc/algorithms/gather_flat.coll \
	contrib/collc/algorithms/reduce_binomial.coll \
	contrib/collc/algorithms/reduce_flat.coll \
	contrib/collc/algorithms/scatter_binomial.coll \
	contrib/collc/algorithms/scatter_flat.coll

contrib/collc/builtin_texts.cpp: $(collc_algorithms) contrib/collc/embed
	$(AM_V_GEN)$(MKDIR_P) contrib/collc && \
	for text in $(collc_algorithms); do \
	  if test -e "$$text"; then echo "$$text"; else echo '$(srcdir)'/"$$text"; fi; \
	done | xargs '$(srcdir)/contrib/collc/embed' >$@.new && mv $@.new $@
CLEANFILES += contrib/collc/builtin_texts.cpp
EXTRA_DIST += $(collc_algorithms) contrib/collc/embed \
	contrib/collc/guide.md contrib/collc/examples/nodes.coll

collc_cppflags = -I$(top_srcdir)/contrib -I$(top_builddir) $(CLI11_CFLAGS) $(FMT_CFLAGS)
collc_libs = libcollc_parts.la $(FMT_LIBS)

if ENABLE_COLLC
noinst_LTLIBRARIES += libcollc_parts.la
libcollc_parts_la_CPPFLAGS = $(collc_cppflags)
libcollc_parts_la_SOURCES = $(collc_sources)
nodist_libcollc_parts_la_SOURCES = contrib/collc/builtin_texts.cpp

lib_LTLIBRARIES += libcollc.la
libcollc_la_CPPFLAGS = $(collc_cppflags)
libcollc_la_SOURCES = contrib/collc/collc.cpp contrib/collc/collc.h
libcollc_la_LIBADD = $(collc_libs)
libcollc_la_LDFLAGS = $(NO_LTO) -version-info 0 $(NO_UNDEFINED) -Wl,--as-needed \
	-Wl,--exclude-libs,ALL -export-symbols-regex '^collc_'

bin_PROGRAMS += contrib/collc/collc
contrib_collc_collc_CPPFLAGS = $(collc_cppflags)
contrib_collc_collc_SOURCES = \
	contrib/collc/command/collc.cpp \
	contrib/collc/command/options.cpp contrib/collc/command/options.h \
	contrib/collc/command/simulation.cpp contrib/collc/command/simulation.h
contrib_collc_collc_LDADD = $(collc_libs)

include_HEADERS = contrib/collc/collc.h
nodist_pkgconfig_DATA += contrib/collc/collc.pc
dist_man_MANS += man/collc.1
endif
