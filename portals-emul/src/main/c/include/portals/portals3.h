/* Programs for the Cray XT include <portals/portals3.h>: the CRAY flavour. */
#ifndef PORTALS_PORTALS3_H
#define PORTALS_PORTALS3_H
#ifdef PORTALS3_H
#ifndef PTL3_FLAVOR_CRAY
#error "portals3.h was included before portals/portals3.h: one program, one flavour"
#endif
#endif
#ifndef PTL3_FLAVOR_CRAY
#define PTL3_FLAVOR_CRAY 1
#endif
#include "../portals3.h"
#endif
