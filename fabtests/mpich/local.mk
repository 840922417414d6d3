# MPICH's own tests on dpdkx. "build" makes MPICH, once, outside of this tree; no
# other target does. Its folder util has no tests, but what all of them are linked to.

MPICH_TESTS = attr coll comm datatype errhan group info init part pt2pt rma topo

EXTRA_DIST += fabtests/mpich/build fabtests/mpich/left-out fabtests/mpich/run

check-mpich: all
	@'$(srcdir)/fabtests/mpich/build' $(MPICH_TESTS)
	@FI_PROVIDER_PATH='$(abs_top_builddir)/.libs'; export FI_PROVIDER_PATH; \
	status=0; \
	'$(srcdir)/fabtests/mpich/run' -c $(MPICH_TESTS) || status=1; \
	'$(srcdir)/fabtests/mpich/run' -m netns pt2pt rma || test $$? = 77 || status=1; \
	DPDKXD='$(abs_top_builddir)/prov/dpdkx/daemon/dpdkxd'; export DPDKXD; \
	if test -x "$$DPDKXD"; then \
	  '$(srcdir)/fabtests/mpich/run' -m daemon pt2pt rma coll || test $$? = 77 || status=1; \
	fi; \
	exit $$status

.PHONY: check-mpich
