package dev.verbena.transport;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The contract in its simplest form: transports of one process joined by one lock. An operation
 * happens when it is posted. It exists to check the contract suite and the decorators themselves,
 * not to move data.
 */
final class ModelNetwork {
    final Map<String, ModelTransport> transports = new HashMap<>();
    final AtomicLong numbers = new AtomicLong(1);

    Transport open(TransportContext context) {
        context.conclude();
        synchronized (this) {
            String name =
                    context.name().isEmpty()
                            ? "model-" + numbers.getAndIncrement()
                            : context.name();
            if (transports.containsKey(name)) {
                throw new TransportException("open model: name '" + name + "' is taken");
            }
            ModelTransport made = new ModelTransport(this, name, context);
            transports.put(name, made);
            return made;
        }
    }
}
