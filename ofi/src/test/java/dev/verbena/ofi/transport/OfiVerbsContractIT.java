package dev.verbena.ofi.transport;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import dev.verbena.transport.TransportException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The contract's suite over libfabric's provider {@code verbs;ofi_rxm}: a choice of its tests, the
 * others with {@code -Dverbena.long=true}.
 */
@Tag("verbs-device")
@Timeout(300)
@ChosenTests(
        value = {
            "shouldCarryMessagesOfAnyLengthUpToTheMaximum",
            "shouldDeliverInOrderBothWaysWhenManyAreSent",
            "shouldPutAnyLengthAtAnyAlignment",
            "shouldGetAnyLengthAtAnyAlignment",
            "shouldMoveAllSegmentsOfAVectorWithOneCompletion",
            "shouldNotifyOnceWithTagAndPlaceWhenAllBytesAreVisible",
            "shouldAnswerWhatWasThereBeforeWhenAtomicsHappen",
            "shouldAnswerStaleKeyWhenTheRegionWasClosed",
            "shouldJoinBothWhenTheyConnectToEachOtherAtOnce",
            "shouldEndOnceWhenThePeerCloses",
            "shouldFailWithAReasonWhenNobodyListens",
            "shouldConnectToWhoCameLater",
            "shouldRefuseWhenThePeerIsAnotherIncarnation",
            "shouldNameAPortThatTcpHasGiven",
        },
        never = {
            // libfabric asks the device for memory that may be written
            "shouldPutFromMemoryThatMayOnlyBeReadAndLetPeersReadIt",
            // 0.023 instead of 0.02 of an emulated processor
            "shouldUseNoProcessorTimeWhileItSleeps",
        })
class OfiVerbsContractIT extends TransportContract {
    @Override
    protected String scheme() {
        return OfiTransportProvider.SCHEME;
    }

    @Override
    protected Transport open(TransportContext context) {
        return OfiVerbs.open(context);
    }

    @Override
    protected int lengthAboveSegmentLimit() {
        return (1 << 20) + 11;
    }

    @Override
    protected int times(int count) {
        return OfiVerbs.times(count);
    }

    /** Peers learn by TCP at the endpoint's address that it is there. */
    @Test
    void shouldNameAPortThatTcpHasGiven() throws IOException {
        String host;
        try (Transport any = open(context())) {
            host = any.uri().getHost();
        }
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName(host))) {
            String port = Integer.toString(taken.getLocalPort());
            TransportContext context = context().option(OfiTransportProvider.HOST_OPTION, host);
            assertThatThrownBy(() -> open(context.option(OfiTransportProvider.PORT_OPTION, port)))
                    .isInstanceOf(TransportException.class)
                    .hasMessageContaining("TCP socket at ofi://" + host + ":" + port);
        }
    }

    /** An endpoint takes 2 s to open in the emulated machine. */
    @Override
    protected int manyClients() {
        return 12;
    }
}
