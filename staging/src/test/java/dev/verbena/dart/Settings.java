package dev.verbena.dart;

import dev.verbena.dart.config.ClientSettings;
import dev.verbena.dart.config.ReceiverSettings;
import dev.verbena.dart.config.ServerSettings;
import dev.verbena.dart.config.StepSettings;

/** What a context comes to, for tests of the parts of engines. */
public final class Settings {
    private Settings() {}

    public static ClientSettings of(DartClient.Context context) {
        return context.settings();
    }

    public static ServerSettings of(DartServer.Context context) {
        return context.settings();
    }

    public static ReceiverSettings of(DartReceiver.Context context) {
        return context.settings();
    }

    public static StepSettings of(DartStepContext context) {
        return context.settings();
    }

    public static void namesOfClients(DartReceiver.Context context) {
        context.namesOfClients();
    }
}
