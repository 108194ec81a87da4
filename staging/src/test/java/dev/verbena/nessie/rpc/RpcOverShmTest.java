package dev.verbena.nessie.rpc;

/** Remote procedures over shm://. */
class RpcOverShmTest extends RpcContract {
    @Override
    protected String scheme() {
        return "shm";
    }

    @Override
    boolean isWhole() {
        return !Boolean.getBoolean("verbena.again") || super.isWhole();
    }
}
