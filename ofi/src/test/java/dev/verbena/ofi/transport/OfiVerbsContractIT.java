package dev.verbena.ofi.transport;

import dev.verbena.transport.Transport;
import dev.verbena.transport.TransportContext;
import dev.verbena.transport.TransportContract;
import org.junit.jupiter.api.Tag;

/** The contract's suite over libfabric's provider {@code verbs;ofi_rxm}: a choice of its tests. */
@Tag("verbs-device")
@ChosenTests({
    "shouldCarryMessagesOfAnyLengthUpToTheMaximum",
    "shouldDeliverInOrderBothWaysWhenManyAreSent",
    "shouldPutAnyLengthAtAnyAlignment",
    "shouldMoveAllSegmentsOfAVectorWithOneCompletion",
    "shouldNotifyOnceWithTagAndPlaceWhenAllBytesAreVisible",
    "shouldAnswerWhatWasThereBeforeWhenAtomicsHappen",
    "shouldAnswerStaleKeyWhenTheRegionWasClosed",
    "shouldJoinBothWhenTheyConnectToEachOtherAtOnce",
    "shouldEndOnceWhenThePeerCloses",
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
}
