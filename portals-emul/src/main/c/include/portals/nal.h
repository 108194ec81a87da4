/* Older programs for the Cray XT include this name. */
#include "portals3.h"
