package dev.verbena.ugni;

import dev.verbena.BindingsListContract;
import dev.verbena.ugni.bindings.ugni;

/** Everything that is bound of libugni. */
class UgniBindingsListTest extends BindingsListContract {
    UgniBindingsListTest() {
        super(ugni.class, "");
    }
}
