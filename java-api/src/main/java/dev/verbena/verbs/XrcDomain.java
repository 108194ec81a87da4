package dev.verbena.verbs;

import java.util.List;

/**
 * What extended reliable connections (XRC) have in common: {@code struct ibv_xrcd}. Receiving queue
 * pairs and shared receive queues of one such domain reach each other, so that one connection per
 * process serves all shared receive queues of its node.
 */
public final class XrcDomain extends VerbsObject {
    XrcDomain(RdmaDevice device, long address) {
        super(
                "XRC domain of " + device.info().name(),
                address,
                DestroyCall.XRC_DOMAIN,
                List.of(device));
    }
}
