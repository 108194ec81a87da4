package dev.verbena.ofi.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.Tag;
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
        },
        never = {
            // libfabric asks the device for memory that may be written
            "shouldPutFromMemoryThatMayOnlyBeReadAndLetPeersReadIt",
            // the provider says nothing of an endpoint that is not there: TIMED_OUT
            "shouldFailWithAReasonWhenNobodyListens",
            "shouldConnectToWhoCameLater",
            "shouldRefuseWhenThePeerIsAnotherIncarnation",
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

    /** An endpoint takes 2 s to open in the emulated machine. */
    @Override
    protected int manyClients() {
        return 12;
    }
}
