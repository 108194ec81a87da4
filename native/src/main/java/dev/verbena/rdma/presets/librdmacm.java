package dev.verbena.rdma.presets;

import org.bytedeco.javacpp.annotation.Platform;
import org.bytedeco.javacpp.annotation.Properties;
import org.bytedeco.javacpp.tools.Info;
import org.bytedeco.javacpp.tools.InfoMap;
import org.bytedeco.javacpp.tools.InfoMapper;

/**
 * Mapping rules from {@code rdma/rdma_cma.h}, {@code rdma/rdma_verbs.h} and {@code infiniband/sa.h}
 * to {@code dev.verbena.rdma.bindings}: every function, constant and structure. Socket addresses
 * are passed by address.
 */
@Properties(
        inherit = libibverbs.class,
        value = {
            @Platform(
                    value = {"linux"},
                    include = {"infiniband/sa.h", "rdma/rdma_cma.h", "rdma/rdma_verbs.h"},
                    library = "jniverbs")
        },
        target = "dev.verbena.rdma.bindings",
        global = "dev.verbena.rdma.bindings.librdmacm")
@SuppressWarnings("checkstyle:TypeName")
public class librdmacm implements InfoMapper {
    /** For the generator of bindings, which makes one. */
    public librdmacm() {}

    @Override
    public void map(InfoMap infoMap) {
        infoMap.put(
                new Info(
                                "sockaddr",
                                "sockaddr_in",
                                "sockaddr_in6",
                                "sockaddr_ib",
                                "sockaddr_storage")
                        .cast()
                        .pointerTypes("Pointer"));
        infoMap.put(
                new Info("socklen_t")
                        .cast()
                        .valueTypes("int")
                        .pointerTypes("IntPointer", "IntBuffer", "int[]"));
    }
}
