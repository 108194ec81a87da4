package dev.verbena.nessie.rpc;

import dev.verbena.agent.DurableStore;
import dev.verbena.nessie.rpc.wire.TraceRequest;
import dev.verbena.staging.file.LineFile;
import org.agrona.CloseHelper;
import org.agrona.collections.IntHashSet;

/**
 * Writes a line for each request that has ended, as long as a client wants it and the file has
 * room. Clients name new files in one folder, which the server's owner has chosen. Owned by the
 * server's thread; allocates nothing for a request.
 */
final class RpcTrace implements AutoCloseable {
    private static final int FILES_MAX = 64;

    private final DurableStore files;
    private final long lengthMax;
    private final IntHashSet opcodes = new IntHashSet();

    /** Null: nothing is traced. */
    private LineFile lines;

    /**
     * Traces nothing yet.
     *
     * @param files closed with this; null: clients may not ask for traces
     * @param lengthMax of a file, bytes
     */
    RpcTrace(DurableStore files, long lengthMax) {
        this.files = files;
        this.lengthMax = lengthMax;
    }

    boolean isOn() {
        return lines != null;
    }

    /** Ends the trace, and begins another one if the request names a file. */
    RpcResult reset(TraceRequest request) {
        if (files == null) {
            return RpcResult.EPERM;
        }
        CloseHelper.close(lines);
        lines = null;
        if (request.file().count() == 0 || request.type() != 0) {
            return request.type() == 0 ? RpcResult.OK : RpcResult.ENOTSUP;
        }
        try {
            lines = LineFile.create(files, request.file().text(), FILES_MAX, lengthMax);
        } catch (IllegalArgumentException e) {
            return RpcResult.EINVAL;
        } catch (IllegalStateException e) {
            return RpcResult.EEXIST;
        }
        opcodes.clear();
        for (int i = 0; i < request.opcodes().count(); i++) {
            opcodes.add(request.opcodes().get(i));
        }
        lines.add("arrived_ns,args_ns,queue_ns,handler_ns,reply_ns,opcode,id,code,client").end();
        return RpcResult.OK;
    }

    /** A request has ended. */
    void ended(RpcCall call) {
        if (lines == null || !call.isTraced || !isWanted(call.opcode())) {
            return;
        }
        lines.add(call.phaseNs[Phase.FREE.ordinal()]);
        add(call, Phase.FREE, Phase.QUEUED);
        add(call, Phase.QUEUED, Phase.RUNNING);
        add(call, Phase.RUNNING, Phase.REPLYING);
        add(call, Phase.REPLYING, Phase.ENDED);
        lines.add(call.opcode()).add(call.id()).add(call.reply.header.code());
        lines.add(call.peer().url().toString()).end();
    }

    private boolean isWanted(int opcode) {
        // Not what began this trace itself.
        return opcode != Opcode.TRACE_RESET && (opcodes.isEmpty() || opcodes.contains(opcode));
    }

    /** A phase that was skipped took no time. */
    private void add(RpcCall call, Phase from, Phase to) {
        lines.add(Math.max(0, call.phaseNs[to.ordinal()] - call.phaseNs[from.ordinal()]));
    }

    @Override
    public void close() {
        CloseHelper.closeAll(lines, files);
    }
}
