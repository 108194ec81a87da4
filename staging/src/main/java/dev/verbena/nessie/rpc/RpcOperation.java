package dev.verbena.nessie.rpc;

import dev.verbena.nessie.xdr.XdrValue;
import java.util.function.Supplier;

/**
 * What a server does for an opcode.
 *
 * @param args makes an object for arguments; null: there are none
 * @param needsSlot whether it is to be given one of the server's buffers for bulk data
 */
record RpcOperation(Supplier<? extends XdrValue> args, RpcHandler handler, boolean needsSlot) {}
