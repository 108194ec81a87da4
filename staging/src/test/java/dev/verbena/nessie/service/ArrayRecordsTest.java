package dev.verbena.nessie.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.verbena.nessie.service.wire.ArrayReply;
import dev.verbena.nessie.service.wire.ArrayRequest;
import dev.verbena.nessie.xdr.XdrException;
import dev.verbena.nessie.xdr.XdrObject;
import dev.verbena.staging.metadata.Box;
import dev.verbena.staging.metadata.Runs;
import java.util.SplittableRandom;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Records of the array service, and bytes that are none. */
@Timeout(120)
class ArrayRecordsTest {
    private static ArrayRequest request() {
        ArrayRequest request = new ArrayRequest();
        request.place(0).places(1).number(3).type(10).waitMs(5);
        request.name().text("field");
        Box whole = Box.whole(4, 5);
        Requests.encodeShape(whole, request.shape());
        Requests.encode(whole, request.box());
        Requests.encode(whole, request.memory());
        return request;
    }

    private static UnsafeBuffer encoded(XdrObject value) {
        UnsafeBuffer bytes = new UnsafeBuffer(new byte[value.encodedLength()]);
        value.encode(bytes, 0);
        return bytes;
    }

    /** Every other value of a box or a name is refused by an exception that is an answer. */
    @Test
    void shouldRefuseHostileRequests() {
        // --long: 2,000,000 requests instead of 100,000
        int rounds = Boolean.getBoolean("verbena.long") ? 2_000_000 : 100_000;
        UnsafeBuffer good = encoded(request());
        SplittableRandom random = new SplittableRandom(19);
        ArrayRequest request = new ArrayRequest();
        int refused = 0;
        for (int round = 0; round < rounds; round++) {
            UnsafeBuffer bytes = damaged(good, random);
            try {
                request.decode(bytes, 0, bytes.capacity());
                check(request);
            } catch (XdrException | ArrayException e) {
                refused++;
            }
        }
        assertThat(refused).isGreaterThan(rounds / 4);
    }

    private static void check(ArrayRequest request) {
        ArrayDescription array =
                Requests.description(
                        request.name().text(), request.number(), request.type(), request.shape());
        Box box = Requests.box(request.box());
        Requests.requireInside(array, box, Requests.box(request.memory()), 160);
        assertThat(box.volume()).isLessThanOrEqualTo(20);
    }

    private static UnsafeBuffer damaged(DirectBuffer good, SplittableRandom random) {
        int length = random.nextInt(8) == 0 ? random.nextInt(good.capacity()) : good.capacity();
        byte[] bytes = new byte[length];
        good.getBytes(0, bytes);
        for (int i = 1 + random.nextInt(3); i > 0 && length > 0; i--) {
            bytes[random.nextInt(length)] = (byte) random.nextInt();
        }
        return new UnsafeBuffer(bytes);
    }

    @Test
    void shouldRefuseADamagedSeal() {
        Version version =
                new Version(
                        new ArrayDescription("field", 3, ArrayType.INT8, Box.whole(9)),
                        new VersionFile(null, 1, false));
        version.reserve(Box.whole(9)).filedAt(0);
        DirectBuffer good = Recovery.encode(version, ArrayServerOptions.DEFAULT);
        assertThat(Recovery.decode(good).pieces().count()).isEqualTo(1);
        SplittableRandom random = new SplittableRandom(20);
        for (int round = 0; round < 10_000; round++) {
            int at = random.nextInt(good.capacity());
            byte[] bytes = new byte[good.capacity()];
            good.getBytes(0, bytes);
            bytes[at] ^= (byte) (1 << random.nextInt(8));
            assertThatThrownBy(() -> Recovery.decode(new UnsafeBuffer(bytes)))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldCutLongTexts() {
        ArrayReply[] sent = new ArrayReply[1];
        Job.fail(
                new Caller() {
                    @Override
                    public long memoryLength() {
                        return 0;
                    }

                    @Override
                    public boolean move(
                            boolean isPull,
                            dev.verbena.nessie.nnti.NntiBuffer buffer,
                            Runs run,
                            dev.verbena.nessie.rpc.RpcCall.TransferListener to) {
                        return false;
                    }

                    @Override
                    public boolean isGone() {
                        return false;
                    }

                    @Override
                    public void reply(ArrayReply reply) {
                        sent[0] = reply;
                    }
                },
                new ArrayException(ArrayStatus.FAILED, "\u00e4".repeat(2000)));
        assertThat(sent[0].text().text()).startsWith("\u00e4\u00e4").endsWith("...");
    }
}
