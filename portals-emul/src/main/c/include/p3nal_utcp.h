/* Programs take PTL_IFACE_DEFAULT from here. */
#include "portals3.h"
