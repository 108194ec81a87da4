package dev.verbena.transport.core;

import static dev.verbena.transport.core.TableConnection.CONNECTED;
import static dev.verbena.transport.core.TableConnection.CONNECTING;
import static dev.verbena.transport.core.TableConnection.ENDED;
import static dev.verbena.transport.core.TableConnection.ENDING;
import static dev.verbena.transport.core.TableConnection.OFFERED;

import dev.verbena.transport.Status;
import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportHandler;
import java.util.function.Consumer;

/**
 * How connections whose peers tell each other by records go from state to state: what the user asks
 * for, which record is due because of it, and which event tells of an end. How a record travels,
 * and what a connection holds, is the provider's. One thread.
 *
 * @param <C> the provider's connection
 */
public abstract class ConnectionLife<C extends TableConnection> {
    /** Record: asks to connect. */
    public static final int CONNECT = 1;

    /** Record: the connection is accepted. */
    public static final int ACCEPT = 2;

    /** Record: it is not. */
    public static final int REJECT = 3;

    /** Record: the connection ends. */
    public static final int DISCONNECT = 4;

    /** Record: as {@link #REJECT}, for the receiver's room is used up. */
    public static final int FULL = 5;

    /** All of them. */
    protected final HandleTable<C> table;

    private int endingCount;
    private int pendingCount;

    /** Of the connections in this table. */
    protected ConnectionLife(HandleTable<C> table) {
        this.table = table;
    }

    /** Sends the pending record, or leaves it pending; then {@link #sent} or {@link #gone}. */
    protected abstract void send(C c);

    /** Gives back what the connection holds, and its slot. */
    protected abstract void free(C c);

    /** Tells the user by the next polls. */
    protected abstract void tell(Consumer<TransportHandler> event);

    /** Looks for records that peers have sent. */
    protected abstract void takeRecords();

    /** Whether everything that the peer of an ending connection sent before was delivered. */
    protected abstract boolean isDelivered(C c);

    /** Messages flow from now on. */
    protected void onConnected(C c) {}

    /** The peer will send no more. */
    protected void onEnding(C c) {}

    /** As {@link Transport#accept}. */
    public final int accept(long handle, long userContext) {
        C c = table.find(handle);
        if (c == null || c.state != OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        c.accepted(userContext);
        pend(c, ACCEPT);
        return c.isQuietEnd ? Transport.NOT_CONNECTED : Transport.ACCEPTED;
    }

    /** As {@link Transport#reject}. */
    public final int reject(long handle) {
        C c = table.find(handle);
        if (c == null || c.state != OFFERED) {
            return Transport.NOT_CONNECTED;
        }
        c.endedQuietly();
        pend(c, REJECT);
        return Transport.ACCEPTED;
    }

    /** As {@link Transport#disconnect}. */
    public final int disconnect(long handle) {
        C c = table.find(handle);
        if (c != null && c.state == OFFERED) {
            return reject(handle);
        }
        if (c != null && c.state == CONNECTING) {
            fail(c, Status.CANCELLED, c.uri + ": disconnect was called");
            return Transport.ACCEPTED;
        }
        if (c == null || c.state != CONNECTED) {
            return Transport.NOT_CONNECTED;
        }
        c.endedQuietly();
        // A peer that never learnt that it was accepted is rejected.
        int record = c.pendingRecord == ACCEPT ? REJECT : DISCONNECT;
        unpend(c);
        pend(c, record);
        return Transport.ACCEPTED;
    }

    /** A record is to be sent, at once if that is possible. */
    protected final void pend(C c, int record) {
        c.pend(record);
        pendingCount++;
        send(c);
    }

    /** Nothing is to be sent any more. */
    protected final void unpend(C c) {
        if (c.pendingRecord != 0) {
            c.pend(0);
            pendingCount--;
        }
    }

    /** How many connections have a record that is to be sent. */
    protected final int pendingCount() {
        return pendingCount;
    }

    /** The pending record was this one, and has arrived. */
    protected final void sent(C c, int record) {
        unpend(c);
        if (record == ACCEPT) {
            connected(c);
        } else if (record != CONNECT) {
            free(c);
        }
    }

    /** The pending record found nobody. */
    protected final void gone(C c) {
        if (c.state == CONNECTING) {
            fail(c, Status.PEER_DEAD, c.uri + " died before it answered");
        } else if (c.isQuietEnd) {
            free(c);
        } else {
            lose(c, "its process is gone");
        }
    }

    /** Both sides know of the connection. */
    public final void connected(C c) {
        c.connected();
        int handle = c.handle;
        long userContext = c.context;
        tell(handler -> handler.onConnected(handle, userContext));
        onConnected(c);
    }

    /** The attempt to connect has failed, with one of {@link Status}. */
    public final void fail(C c, int status, String reason) {
        unpend(c);
        c.ended();
        int handle = c.handle;
        long userContext = c.context;
        tell(
                handler -> {
                    free(c);
                    handler.onConnectFailed(handle, userContext, status, reason);
                });
    }

    /** The peer cannot be reached any more. */
    public final void lose(C c, String reason) {
        switch (c.state) {
            case CONNECTING -> fail(c, Status.PEER_DEAD, c.uri + ": " + reason);
            case OFFERED -> free(c);
            case CONNECTED -> {
                takeRecords(); // a disconnect that it sent before counts
                if (c.state == CONNECTED) {
                    end(c, true, reason);
                }
            }
            case ENDED -> {
                if (c.isQuietEnd) {
                    free(c);
                }
            }
            default -> {
                // its end is on its way
            }
        }
    }

    /** The connection ends when what the peer sent before is delivered. */
    public final void end(C c, boolean isLost, String reason) {
        if (c.pendingRecord == ACCEPT) {
            connected(c);
        }
        unpend(c);
        c.ending(isLost, reason);
        onEnding(c);
        endingCount++;
    }

    /** Ends connections whose last message was delivered. */
    public final void settleEnds() {
        if (endingCount == 0) {
            return;
        }
        for (int i = 0; i < table.size(); i++) {
            C c = table.at(i);
            if (c.state == ENDING && isDelivered(c)) {
                endingCount--;
                ended(c);
            }
        }
    }

    private void ended(C c) {
        c.ended();
        int handle = c.handle;
        long userContext = c.context;
        boolean isLost = c.isLost;
        String reason = c.uri + ": " + c.reason;
        tell(
                handler -> {
                    free(c);
                    if (isLost) {
                        handler.onPeerLost(handle, userContext, reason);
                    } else {
                        handler.onDisconnected(handle, userContext);
                    }
                });
    }
}
