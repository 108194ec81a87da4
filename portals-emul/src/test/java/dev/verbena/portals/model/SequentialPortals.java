package dev.verbena.portals.model;

import dev.verbena.portals.PortalsCode;
import dev.verbena.portals.PortalsEventKind;
import dev.verbena.portals.PortalsOutcome;
import dev.verbena.portals.bindings.portals;
import dev.verbena.portals.model.ModelNic.Accepted;
import dev.verbena.portals.model.ModelNic.Md;
import dev.verbena.portals.model.ModelNic.Request;
import java.util.ArrayList;
import java.util.List;

/**
 * All interfaces of a job, and what an initiator does (specification, sections 4.4 to 4.6). Calls
 * answer as {@code MemoryDescriptor} does: an outcome, or a negated code.
 */
final class SequentialPortals {
    final List<ModelNic> nics = new ArrayList<>();

    private ModelNic find(long target) {
        for (ModelNic nic : nics) {
            if (nic.target() == target) {
                return nic;
            }
        }
        return null;
    }

    /** An initiator's descriptor for one operation; the events of its two halves. */
    private static final class Send {
        final ModelNic nic;
        final Md md;
        final Md copy;
        final long[] event;
        Integer start;

        Send(ModelNic nic, Md md, ModelNic by, Request r, long offset, long length, long header) {
            ModelNic.count(md);
            md.busy++;
            this.nic = nic;
            this.md = md;
            this.copy = md.copy();
            this.event = ModelNic.event(0, copy, by, r.portal(), r.bits());
            event[ModelEvent.REQUESTED] = r.length();
            event[ModelEvent.LENGTH] = length;
            event[ModelEvent.OFFSET] = offset;
            event[ModelEvent.HEADER] = header;
        }

        void start(int kind) {
            if (!copy.has(portals.PTL_MD_EVENT_START_DISABLE)) {
                start = log(kind, 0, null);
            }
        }

        void end(int kind, int fail) {
            Integer cause = start;
            if (!copy.has(portals.PTL_MD_EVENT_END_DISABLE)) {
                Integer end = log(kind, fail, start);
                cause = end == null ? cause : end;
            }
            md.busy--;
            nic.settle(md, event, cause);
        }

        /** Then the initiator's events come before the target's END. */
        boolean isLogged() {
            return md.queue != null && (md.options & ModelNic.NO_EVENTS) != ModelNic.NO_EVENTS;
        }

        private Integer log(int kind, int fail, Integer link) {
            long[] logged = event.clone();
            logged[ModelEvent.KIND] = kind;
            logged[ModelEvent.FAIL] = fail;
            return ModelNic.log(md.queue, logged, link);
        }
    }

    private static int refuse(Md md, long offset, long length) {
        if (md.isDead || md.isInactive) {
            return -PortalsCode.MD_INVALID;
        }
        return offset > md.length || length > md.length - offset ? -PortalsCode.MD_ILLEGAL : 0;
    }

    private static void add(ModelNic nic, int register, long amount) {
        nic.registers[register] += amount;
    }

    private static Send send(ModelNic from, Md md, Request r, long offset) {
        return new Send(from, md, from, r, offset, r.length(), r.header());
    }

    int put(Md md, long offset, boolean isAcknowledged, long target, Request r) {
        ModelNic from = r.from();
        int code = refuse(md, offset, r.length());
        if (code != 0) {
            return code;
        }
        Send send = send(from, md, r, offset);
        add(from, portals.PTL_SR_SEND_COUNT, 1);
        add(from, portals.PTL_SR_SEND_LENGTH, r.length());
        ModelNic to = find(target);
        Accepted a = to == null ? null : to.arrive(r);
        if (a != null) {
            System.arraycopy(
                    from.memory,
                    (int) (md.start + offset),
                    to.memory,
                    (int) (a.copy().start + a.offset()),
                    (int) a.length());
        }
        boolean isFirst = send.isLogged();
        if (a != null && !isFirst) {
            to.complete(a, r);
        }
        int fail = to == null ? portals.PTL_EXT_FAIL_UNREACHABLE : 0;
        send.start(PortalsEventKind.SEND_START);
        send.end(PortalsEventKind.SEND_END, fail);
        if (a != null && isAcknowledged && !a.copy().has(portals.PTL_MD_ACK_DISABLE)) {
            acknowledge(from, md, to, r, offset, a.length());
        }
        if (a != null && isFirst) {
            to.complete(a, r);
        }
        return outcome(to, a);
    }

    private static int outcome(ModelNic to, Accepted a) {
        if (to == null) {
            return PortalsOutcome.UNREACHABLE;
        }
        return a == null ? PortalsOutcome.DROPPED : PortalsOutcome.DELIVERED;
    }

    private static void acknowledge(
            ModelNic nic, Md md, ModelNic by, Request r, long offset, long length) {
        if (md.isDead || md.isInactive) {
            add(nic, portals.PTL_SR_DROP_COUNT, 1);
            return;
        }
        add(nic, portals.PTL_SR_RECV_COUNT, 1);
        ModelNic.count(md);
        long[] event = ModelNic.event(PortalsEventKind.ACK, md.copy(), by, r.portal(), r.bits());
        event[ModelEvent.REQUESTED] = r.length();
        event[ModelEvent.LENGTH] = length;
        event[ModelEvent.OFFSET] = offset;
        Integer sequence = null;
        if ((md.options & ModelNic.NO_EVENTS) != ModelNic.NO_EVENTS) {
            sequence = ModelNic.log(md.queue, event.clone(), null);
        }
        nic.settle(md, event, sequence);
    }

    /** The reply arrives; null: its descriptor is gone or inactive, it is dropped. */
    private static Send reply(Md md, ModelNic by, Request r, long offset, long length) {
        ModelNic nic = r.from();
        if (md.isDead || md.isInactive || offset > md.length) {
            add(nic, portals.PTL_SR_DROP_COUNT, 1);
            add(nic, portals.PTL_SR_DROP_LENGTH, length);
            return null;
        }
        long taken = Math.min(length, md.length - offset);
        add(nic, portals.PTL_SR_RECV_COUNT, 1);
        add(nic, portals.PTL_SR_RECV_LENGTH, taken);
        Send send = new Send(nic, md, by, r, offset, taken, 0);
        send.start(PortalsEventKind.REPLY_START);
        return send;
    }

    int get(Md md, long offset, long target, Request r) {
        ModelNic from = r.from();
        int code = refuse(md, offset, r.length());
        if (code != 0) {
            return code;
        }
        add(from, portals.PTL_SR_SEND_COUNT, 1);
        if (from.isCray) { // section 8.2: a get is a send, too
            Send send = send(from, md, r, offset);
            send.start(PortalsEventKind.SEND_START);
            send.end(PortalsEventKind.SEND_END, 0);
        }
        ModelNic to = find(target);
        Accepted a = to == null ? null : to.arrive(r);
        if (a == null) {
            return outcome(to, null);
        }
        Send reply = reply(md, to, r, offset, a.length());
        if (reply != null) {
            System.arraycopy(
                    to.memory,
                    (int) (a.copy().start + a.offset()),
                    from.memory,
                    (int) (md.start + offset),
                    (int) reply.event[ModelEvent.LENGTH]);
        }
        boolean isFirst = reply != null && reply.isLogged();
        if (isFirst) {
            reply.end(PortalsEventKind.REPLY_END, 0);
        }
        to.complete(a, r);
        if (reply != null && !isFirst) {
            reply.end(PortalsEventKind.REPLY_END, 0);
        }
        return reply == null ? PortalsOutcome.REPLY_DROPPED : PortalsOutcome.DELIVERED;
    }

    int getPut(Md into, Md source, int lengthMax, long target, Request r) {
        ModelNic from = r.from();
        int code = refuse(source, 0, r.length());
        if (code == 0 && r.length() > lengthMax) {
            code = -PortalsCode.MD_ILLEGAL;
        }
        if (code == 0) {
            code = refuse(into, 0, 0);
        }
        if (code != 0) {
            return code;
        }
        Send send = send(from, source, r, 0);
        add(from, portals.PTL_SR_SEND_COUNT, 1);
        add(from, portals.PTL_SR_SEND_LENGTH, r.length());
        ModelNic to = find(target);
        Accepted a = to == null ? null : to.arrive(r);
        byte[] theirs = new byte[0];
        if (a != null) {
            byte[] mine = new byte[(int) a.length()];
            theirs = new byte[mine.length];
            int at = (int) (a.copy().start + a.offset());
            System.arraycopy(from.memory, (int) source.start, mine, 0, mine.length);
            System.arraycopy(to.memory, at, theirs, 0, theirs.length);
            System.arraycopy(mine, 0, to.memory, at, mine.length);
        }
        send.start(PortalsEventKind.SEND_START);
        send.end(PortalsEventKind.SEND_END, to == null ? portals.PTL_EXT_FAIL_UNREACHABLE : 0);
        if (a == null) {
            return outcome(to, null);
        }
        Send reply = reply(into, to, r, 0, theirs.length);
        if (reply != null) {
            int taken = (int) reply.event[ModelEvent.LENGTH];
            System.arraycopy(theirs, 0, from.memory, (int) into.start, taken);
            reply.end(PortalsEventKind.REPLY_END, 0);
        }
        to.complete(a, r);
        return reply == null ? PortalsOutcome.REPLY_DROPPED : PortalsOutcome.DELIVERED;
    }
}
