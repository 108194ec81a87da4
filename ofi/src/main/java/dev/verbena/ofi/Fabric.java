package dev.verbena.ofi;

import dev.verbena.ofi.bindings.fabric;

/** A network of a provider: {@code struct fid_fabric}. */
public final class Fabric extends OfiObject {
    private Fabric(FabricInfo info) {
        super("fi_fabric", "fabric " + info, null, fabric.vfi_fabric(info.info()));
    }

    /**
     * Opens it: {@code fi_fabric}.
     *
     * @throws OfiException if libfabric refuses
     */
    public static Fabric open(FabricInfo info) {
        return new Fabric(info);
    }

    /**
     * Opens a domain: {@code fi_domain}.
     *
     * @throws OfiException if libfabric refuses
     */
    public Domain domain(FabricInfo info) {
        return new Domain(this, info);
    }
}
