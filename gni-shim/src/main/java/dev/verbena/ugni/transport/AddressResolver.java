package dev.verbena.ugni.transport;

import java.net.InetAddress;
import java.net.URI;
import java.net.UnknownHostException;

/** Whom a URI means, and why it means nobody. */
final class AddressResolver {
    /** What our own URIs say: every process of this emulation is on one host. */
    static final String HOST = "localhost";

    private final GniResources resources;

    AddressResolver(GniResources resources) {
        this.resources = resources;
    }

    /** Null if the address is of our protection domain and host, else what follows its URI. */
    String refusal(GniAddress to) {
        if (to.ptag() != -1 && to.ptag() != resources.ptag) {
            return " is of protection tag " + to.ptag() + ", this process is of " + resources.ptag;
        }
        if (to.cookie() != -1 && to.cookie() != resources.cookie) {
            return " has cookie " + to.cookie() + ", this process has " + resources.cookie;
        }
        return isHere(to.host())
                ? null
                : " is on another host; this emulation reaches processes of one host";
    }

    private static boolean isHere(String host) {
        if (host.equals(HOST) || host.startsWith("127.")) {
            return true;
        }
        try {
            return host.equals(InetAddress.getLocalHost().getHostName());
        } catch (UnknownHostException e) {
            return false;
        }
    }

    /** Of who sent a record. */
    URI uri(ControlRecord record) {
        return uri(resources, record.instance(), record.incarnation());
    }

    /** Our own. */
    static URI uri(GniResources resources) {
        return uri(resources, resources.instance, resources.incarnation);
    }

    /** Without a name, which is a label only: protocols have little room for addresses. */
    private static URI uri(GniResources resources, int instance, long incarnation) {
        return new GniAddress(
                        resources.host, instance, "", resources.ptag, resources.cookie, incarnation)
                .uri();
    }
}
