link_sources = prov/dpdkx/link/link.h
