package dev.verbena.ugni;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Endpoints' event data and completion queues through the Java objects. */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class UgniQueueTest extends UgniPair {
    private static final int GLOBAL = PostDescriptorFlyweight.GLOBAL_EVENT;
    private static final int REMOTE = PostDescriptorFlyweight.REMOTE_EVENT;

    private void put(int modes) {
        claim(PostDescriptorFlyweight.FMA_PUT, modes, 8);
        assertThat(endpoint.postFma(post)).isZero();
        if ((modes & GLOBAL) != 0) {
            take();
        }
        posts.release(post);
    }

    @Test
    @Tag("ugni-34")
    @Tag("ugni-35")
    void shouldLookWithoutTaking() {
        assertThat(source.poll()).isEqualTo(CompletionQueue.EMPTY);
        assertThat(source.isEmpty()).isTrue();
        put(REMOTE);
        assertThat(destination.isEmpty()).isFalse();
        assertThat(destination.isEmpty()).isFalse();
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(destination.lastPoll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(destination.isEmpty()).isTrue();
    }

    @Test
    @Tag("ugni-36")
    @Tag("ugni-37")
    void shouldWaitForEventsInTime() {
        assertThatThrownBy(() -> targetSource.await(1)).hasMessageContaining("not BLOCKING");
        assertThatThrownBy(() -> target.awaitAny(new CompletionQueue[] {targetSource}, 1))
                .hasMessageContaining("not BLOCKING");
        assertThat(destination.await(20)).isEqualTo(CompletionQueue.EMPTY);
        put(REMOTE);
        assertThat(destination.await(-1)).isEqualTo(CompletionQueue.EVENT);
    }

    @Test
    @Tag("ugni-38")
    void shouldWaitForSeveralQueues() {
        try (CompletionQueue one = target.completionQueue(8, CompletionQueue.BLOCKING);
                CompletionQueue two = target.completionQueue(8, CompletionQueue.BLOCKING)) {
            CompletionQueue[] queues = {one, two, destination};
            assertThat(target.awaitAny(queues, 10)).isEqualTo(-1);
            put(REMOTE);
            assertThat(target.awaitAny(queues, 1000)).isEqualTo(2);
            assertThat(CompletionEvent.instance(destination.event())).isEqualTo(1);
            assertThat(destination.isEmpty()).isTrue();
            assertThatThrownBy(() -> initiator.awaitAny(queues, 1))
                    .isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> target.awaitAny(new CompletionQueue[0], 1))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    @Tag("ugni-42")
    void shouldSayOnceThatEventsWereLostAndGoOn() {
        for (int i = 0; i < 600; i++) { // 512 fit
            put(REMOTE);
        }
        int events = 0;
        int overruns = 0;
        for (int answer = destination.poll();
                answer != CompletionQueue.EMPTY;
                answer = destination.poll()) {
            events += answer == CompletionQueue.EVENT ? 1 : 0;
            overruns += answer == CompletionQueue.OVERRUN ? 1 : 0;
            assertThat(CompletionEvent.isOverrun(destination.event()))
                    .isEqualTo(answer == CompletionQueue.OVERRUN);
        }
        assertThat(overruns).isEqualTo(1);
        assertThat(events).isBetween(64, 599);
        assertThat(arrived.getLong(0)).isEqualTo(sent.getLong(0));
        put(REMOTE);
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
    }

    @Test
    @Tag("ugni-43")
    void shouldRefuseAPostThatHasNoRoomForItsEvent() {
        try (PostDescriptors many = initiator.postDescriptors(600)) {
            int posted = 0;
            int result = 0;
            while (result == 0 && posted < 600) {
                many.wrap(post, posted);
                post.type(PostDescriptorFlyweight.FMA_PUT)
                        .cqMode(GLOBAL)
                        .local(local, 0)
                        .remote(remote.address(), remote.handle1(), remote.handle2())
                        .length(8);
                result = endpoint.postFma(post);
                posted += result == 0 ? 1 : 0;
            }
            assertThat(result).isEqualTo(-UgniCode.ERROR_RESOURCE);
            assertThat(many.inFlightCount()).isEqualTo(posted);
            take();
            assertThat(endpoint.postFma(post)).isZero();
            while (many.inFlightCount() > 0) {
                take();
            }
        }
    }

    @Test
    @Tag("ugni-15")
    @Tag("ugni-16")
    @Tag("ugni-17")
    void shouldBindToOnePeerAtATime() {
        assertThatThrownBy(() -> endpoint.bind(1, 2)).hasMessageContaining("INVALID_PARAM");
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 8);
        assertThat(endpoint.postFma(post)).isZero();
        assertThatThrownBy(endpoint::unbind).hasMessageContaining("in flight");
        assertThat(endpoint.isIdle()).isFalse();
        take();
        assertThat(endpoint.isIdle()).isTrue();
        endpoint.unbind();
        assertThat(endpoint.isBound()).isFalse();
        endpoint.bind(initiator.address(), initiator.instance());
        assertThat(endpoint.isBound()).isTrue();
    }

    @Test
    @Tag("ugni-20")
    @Tag("ugni-21")
    void shouldSayInEventsWhatWasSet() {
        endpoint.eventData(0x1234, 0x5678);
        put(GLOBAL | REMOTE);
        assertThat(CompletionEvent.instance(source.event())).isEqualTo(0x1234);
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.instance(destination.event())).isEqualTo(0x5678);
        endpoint.unbind();
        endpoint.eventData(9, 9).bind(target.address(), target.instance());
        put(GLOBAL | REMOTE);
        assertThat(CompletionEvent.instance(source.event())).isEqualTo(2);
        assertThat(destination.poll()).isEqualTo(CompletionQueue.EVENT);
        assertThat(CompletionEvent.instance(destination.event())).isEqualTo(1);
    }

    @Test
    @Tag("ugni-46")
    void shouldTellOfFailuresWhetherTheyCanBeMended() {
        put(GLOBAL);
        assertThatThrownBy(() -> CompletionEvent.isRecoverable(source.event()))
                .hasMessageContaining("INVALID_STATE");
        assertThat(CompletionEvent.errorText(source.event())).contains("OKAY");
        claim(PostDescriptorFlyweight.FMA_PUT, GLOBAL, 8);
        there.closeAll();
        assertThat(endpoint.postFma(post)).isZero();
        assertThat(take()).isEqualTo(CompletionQueue.FAILED);
        assertThat(CompletionEvent.isRecoverable(source.event())).isTrue();
        assertThat(source.errorText()).contains("REQUEST_TIMEOUT");
    }
}
