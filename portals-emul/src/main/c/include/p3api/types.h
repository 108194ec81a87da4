/* Older programs include this name. */
#include "../portals3.h"
