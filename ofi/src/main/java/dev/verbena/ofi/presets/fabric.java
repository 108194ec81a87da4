package dev.verbena.ofi.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from the calls with flat arguments ({@code vfi_...}) to the generated class {@code
 * dev.verbena.ofi.bindings.fabric}.
 *
 * <p>Nearly all of libfabric's interface is inline functions over structures of function pointers.
 * They are compiled into the flat calls, which take and return integers only, so that a call costs
 * no object. Constants of the headers are compared with the C compiler's.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {"ofi_native.h"},
                    library = "jniofi")
        },
        target = "dev.verbena.ofi.bindings",
        global = "dev.verbena.ofi.bindings.fabric")
public class fabric implements InfoMapper {
    /** For the generator of bindings, which makes one. */
    public fabric() {}

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("VERBENA_OFI_NATIVE_H").skip());
    }
}
