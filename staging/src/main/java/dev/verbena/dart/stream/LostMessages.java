package dev.verbena.dart.stream;

import dev.verbena.dart.DartException.Code;
import dev.verbena.dart.DartServer;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.agrona.ErrorHandler;

/**
 * Messages that a server had taken and did not deliver when it ended: each is named once, in the
 * error log and to whoever asks. Thread-safe.
 */
public final class LostMessages {
    private final Set<DartServer.LostMessage> messages = new LinkedHashSet<>();
    private final ErrorHandler errorHandler;

    LostMessages(ErrorHandler errorHandler) {
        this.errorHandler = errorHandler;
    }

    /** Counts and reports a message, unless it is known already. */
    public void add(int clientId, long sequence, String name, String why) {
        DartServer.LostMessage message = new DartServer.LostMessage(clientId, sequence, name);
        synchronized (messages) {
            if (!messages.add(message)) {
                return;
            }
        }
        errorHandler.onError(
                Code.UNCONFIRMED.because("server closed before " + why + " " + message));
    }

    public List<DartServer.LostMessage> all() {
        synchronized (messages) {
            return new ArrayList<>(messages);
        }
    }
}
