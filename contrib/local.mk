# Checks of the sources, and builds under sanitizers and other compilers: each
# is one target.

devtools = contrib/devtools/check-attributes contrib/devtools/check-includes \
	contrib/devtools/check-service contrib/devtools/check-settings \
	contrib/devtools/check-stdout
dist_check_SCRIPTS += $(devtools)
TESTS += $(devtools)

# Each test is run so; LOG_FLAGS is free for what else shall run it.
LOG_COMPILER = $(srcdir)/contrib/devtools/limit-test

EXTRA_DIST += contrib/check contrib/quickstart contrib/lib .ci/run \
	contrib/devtools/check-archive contrib/devtools/check-format \
	contrib/devtools/check-headers contrib/devtools/limit-test contrib/devtools/precompile \
	contrib/devtools/precompiled.h contrib/devtools/run-fuzz \
	contrib/devtools/run-tidy contrib/devtools/subbuild \
	contrib/devtools/tsan.supp

# Another build of these sources, in a folder of its own under this one. A
# source tree that is itself configured can't serve two builds: it is copied.
subbuild = source='$(srcdir)'; \
	if test -e '$(srcdir)/config.status'; then \
	  $(MAKE) $(AM_MAKEFLAGS) distdir distdir=subbuild-sources >/dev/null || exit; \
	  source=subbuild-sources; \
	fi; \
	MAKE='$(MAKE)' '$(srcdir)/contrib/devtools/subbuild' "$$source"
AM_DISTCHECK_CONFIGURE_FLAGS = $(SUBCONFIGURE_ARGS)

# "make" for those who wait for all of it: the system's headers are compiled once, which takes a third
# off. The folder is its own, as what is made depends on it.
all_precompiled = PRECOMPILED='-include $(abs_builddir)/headers/precompiled.h'
all-quick:
	@'$(srcdir)/contrib/devtools/precompile' '$(abs_builddir)/headers' $(CXX) $(CPPFLAGS) $(CXXFLAGS)
	+@$(MAKE) $(AM_MAKEFLAGS) all $(all_precompiled)

# "make check" likewise: the tests' own code is compiled without optimisation, too, and by clang where
# there is one, which together takes a third of the time. What is tested, and the benchmarks, are
# compiled before that, as ever.
check-quick: all-quick
	+@$(MAKE) $(AM_MAKEFLAGS) bench-programs $(all_precompiled)
	+@tests_cxx='$(CXX)'; \
	if clang++ --version >/dev/null 2>&1; then tests_cxx='clang++ $(filter -std=%,$(CXX))'; fi; \
	$(MAKE) $(AM_MAKEFLAGS) check-apart $(all_precompiled) \
	  tests_cxx="$$tests_cxx" tests_flags='-g1 -O0'

# "make check" where the tests' own code has other flags than what they test, $(tests_flags), or
# another compiler, $(tests_cxx), whose warnings end nothing; they are linked as ever.
tests_cxx = $(CXX)
check-apart: all
	@'$(srcdir)/contrib/devtools/precompile' '$(abs_builddir)/headers/tests' \
	  $(tests_cxx) $(CPPFLAGS) $(tests_flags)
	+@$(MAKE) $(AM_MAKEFLAGS) check CXX='$(tests_cxx)' CXXLD='$(CXX)' CXXFLAGS='$(tests_flags)' \
	  WARN_FLAGS='$(if $(filter-out $(CXX),$(tests_cxx)),$(filter-out -Werror,$(WARN_FLAGS)),$(WARN_FLAGS))' \
	  PRECOMPILED='-include $(abs_builddir)/headers/tests/precompiled.h'

# The other builds get make's jobs from the "+" in front of their lines.
#
# Code under a sanitizer is slow: FABTESTS_PATIENCE multiplies the tests' limits,
# and simulations run with fewer seeds. To compile it takes longest: half as long
# with -Og as with -O1, and with precompiled headers less again.
sanitizer_flags = -g1 -fno-omit-frame-pointer -D_GLIBCXX_ASSERTIONS
san_configure = --disable-werror --disable-coll $(SUBCONFIGURE_ARGS)
by_clang = CC=clang CXX=clang++

# Address and undefined behaviour live well together: check-asan has both. Of
# the programs only those that are run. clang compiles this in a third of the time that g++
# takes; it doesn't tell the code in g++'s words. What is tested is optimised a little: simulations
# take several times as long else.
asan_flags = $(sanitizer_flags) -D__SANITIZE_ADDRESS__=1 -fsanitize=address,undefined \
	-fno-sanitize-recover=all
check-asan:
	+@ASAN_OPTIONS=strict_string_checks=1 \
	UBSAN_OPTIONS=print_stacktrace=1 UNLOADABLE_BECAUSE_OF=asan \
	FABTESTS_PATIENCE=5 SIM_SEEDS_DIVIDED_BY=6; \
	export ASAN_OPTIONS UBSAN_OPTIONS UNLOADABLE_BECAUSE_OF; \
	export FABTESTS_PATIENCE SIM_SEEDS_DIVIDED_BY; \
	$(subbuild) asan $(san_configure) $(by_clang) \
	  CFLAGS='$(asan_flags) -O1' CXXFLAGS='$(asan_flags) -O1' \
	  -- check-apart tests_flags='$(asan_flags) -O0' \
	  check_PROGRAMS='$$(unit_programs) $$(sim_programs) $$(functional_programs)'

# With g++, libtool links modules without what the compiler would add: LIBS names the
# sanitizers' libraries.
check-ubsan:
	+@UBSAN_OPTIONS=print_stacktrace=1; export UBSAN_OPTIONS; \
	$(subbuild) ubsan $(san_configure) \
	  CFLAGS='$(sanitizer_flags) -Og -fsanitize=undefined -fno-sanitize-recover=all' \
	  CXXFLAGS='$(sanitizer_flags) -Og -fsanitize=undefined -fno-sanitize-recover=all' \
	  LIBS=-lubsan \
	  -- check

# The tests in $(tsan_tests) only: those that run threads of their own.
# ThreadSanitizer knows no address layout but the usual one: setarch -R.
check-tsan:
	@test -n '$(tsan_tests)' || { echo 'check-tsan: tsan_tests is empty' >&2; exit 1; }
	+@TSAN_OPTIONS='halt_on_error=1:second_deadlock_stack=1:suppressions=$(abs_top_srcdir)/contrib/devtools/tsan.supp' \
	UNLOADABLE_BECAUSE_OF=tsan \
	FABTESTS_PATIENCE=10 FABTESTS_PROGRAMS='$(functional_tsan)'; \
	export TSAN_OPTIONS UNLOADABLE_BECAUSE_OF FABTESTS_PATIENCE FABTESTS_PROGRAMS; \
	$(subbuild) tsan $(san_configure) --without-dpdk \
	  CFLAGS='$(sanitizer_flags) -Og -fsanitize=thread' \
	  CXXFLAGS='$(sanitizer_flags) -Og -fsanitize=thread' \
	  LIBS=-ltsan \
	  -- check TESTS='$(tsan_tests)' check_PROGRAMS='$(tsan_programs)' \
	  LOG_FLAGS='setarch -R'

# FUZZ_SECONDS per program; reports which lines of the rooms that act on remote bytes ran.
FUZZ_SECONDS = 60
check-fuzz:
	+@$(subbuild) fuzz $(san_configure) $(by_clang) --enable-fuzz --without-dpdk \
	  CFLAGS='$(sanitizer_flags) $(fuzz_flags)' \
	  CXXFLAGS='$(sanitizer_flags) $(fuzz_flags)' \
	  -- run-fuzz FUZZ_SECONDS=$(FUZZ_SECONDS)

fuzz_flags = -O1 -fsanitize=fuzzer-no-link,address,undefined \
	-fno-sanitize-recover=all -fprofile-instr-generate -fcoverage-mapping

# In the sub-build that check-fuzz makes.
run-fuzz: $(fuzz_programs)
	@FUZZ_SECONDS=$(FUZZ_SECONDS) '$(srcdir)/contrib/devtools/run-fuzz' \
	  '$(abs_top_srcdir)' $(fuzz_programs)

# Lines that "make check" runs, by folder, and as pages in coverage/html.
coverage:
	+@$(subbuild) coverage $(san_configure) \
	  CFLAGS='-g -O0 --coverage' CXXFLAGS='-g -O0 --coverage' \
	  -- check
	@cd coverage && lcov --quiet --capture --directory . --output-file all.info && \
	lcov --quiet --extract all.info '*/prov/*' '*/contrib/collc/*' --output-file prov.info && \
	genhtml --quiet --output-directory html prov.info && \
	lcov --list prov.info

# Relative to the source tree, where the two scripts work.
source_flags = \
	FLAGS='-std=c++20 -Iprov -Icontrib -Iinclude -I$(abs_builddir) $(LIBFABRIC_CFLAGS) $(CPPFLAGS)' \
	DPDK_FLAGS='$(DPDK_CFLAGS)' \
	MPI_FLAGS='$(if $(MPICH_CPPFLAGS),$(MPICH_CPPFLAGS),$(OPENMPI_CPPFLAGS))' \
	TEST_FLAGS='-Ifabtests $(CMOCKA_CFLAGS) $(CLI11_CFLAGS) $(FMT_CFLAGS)'

check-headers:
	@CXX='$(CXX) -Wall -Wextra -Werror' CC='$(CC)' $(source_flags) \
	'$(srcdir)/contrib/devtools/check-headers' '$(abs_top_srcdir)'

# TIDY names files or folders of the source tree.
TIDY = prov contrib/collc fabtests
check-tidy:
	@$(source_flags) \
	'$(srcdir)/contrib/devtools/run-tidy' '$(abs_top_srcdir)' $(TIDY)

check-format:
	@'$(srcdir)/contrib/devtools/check-format' '$(srcdir)'

.PHONY: all-quick check-quick check-apart check-asan check-ubsan check-tsan check-fuzz run-fuzz coverage \
	check-headers check-tidy check-format bench-programs mpi-programs

clean-local:
	-rm -rf asan ubsan tsan fuzz coverage subbuild-sources headers
