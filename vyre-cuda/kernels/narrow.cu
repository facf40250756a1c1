// Narrow rounds as the modules of compiled passes have them: the functions that build.json lists, with holes where a pass's
// own bodies go. All else is the megakernel's, so that what they call is what it has.
#define VYRE_HOLES
#include "megakernel.cu"
