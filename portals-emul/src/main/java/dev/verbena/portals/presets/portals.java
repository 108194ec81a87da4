package dev.verbena.portals.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code portals3.h}, {@code portals3_ext.h}, {@code portals3_layout.h} and the
 * calls with flat arguments to the generated class {@code dev.verbena.portals.bindings.portals}.
 *
 * <p>Structures become JavaCPP classes and serve set-up calls and tests. What happens while data
 * moves goes through the flat calls ({@code vpn_...}), which take and return integers only: such a
 * call costs no object.
 */
@Properties(
        value = {
            @Platform(
                    value = {"linux"},
                    include = {
                        "portals3.h",
                        "portals3_ext.h",
                        "portals3_layout.h",
                        "portals_native.h"
                    },
                    library = "jniportals3")
        },
        target = "dev.verbena.portals.bindings",
        global = "dev.verbena.portals.bindings.portals")
public class portals implements InfoMapper {
    /** For the generator of bindings, which makes one. */
    public portals() {}

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(new Info("PTL3_FLAVOR_CRAY").define(false));
        infoMap.put(
                new Info(
                                "PTL_INVALID_HANDLE",
                                "PTL_HANDLE_NONE",
                                "PTL_EQ_NONE",
                                "PTL_NID_ANY",
                                "PTL_PID_ANY",
                                "PTL_UID_ANY",
                                "PTL_JID_ANY",
                                "PTL_PT_INDEX_ANY",
                                "PTL_TIME_FOREVER",
                                "PTL_IFACE_DEFAULT",
                                "PTL_DEBUG_ALL",
                                "PTL_EQ_HANDLER_NONE",
                                "PTL_SLOT_BUSY",
                                "PtlHandleIsEqual",
                                "PORTALS3_H",
                                "PORTALS3_EXT_H",
                                "PORTALS3_LAYOUT_H",
                                "VERBENA_PORTALS_NATIVE_H",
                                "ptl_err_str",
                                "ptl_event_str",
                                "ptl_eq_handler_t",
                                "PtlEQAlloc")
                        .skip());
        infoMap.put(
                new Info(
                                "ptl_unlink_t",
                                "ptl_ins_pos_t",
                                "ptl_ack_req_t",
                                "ptl_event_kind_t",
                                "ptl_err_t")
                        .enumerate(false)
                        .valueTypes("int")
                        .cast());
    }
}
