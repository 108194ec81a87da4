package dev.verbena.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.agent.ByteStreams.ByteStream;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.util.Map;
import java.util.function.Function;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/** A process at the rendezvous server: its requests, one after the other. One thread. */
final class RendezvousConnection {
    /** Most that is kept for the next answer: one with the texts of all processes is rare. */
    private static final int OUT_KEPT = 64 << 10;

    private final ByteStream stream;
    private final Function<String, JobTexts> jobs;
    private final UnsafeBuffer in = new UnsafeBuffer(new byte[RendezvousServer.LINE_MAX]);
    private ExpandableArrayBuffer out = new ExpandableArrayBuffer();
    private int inLength;
    private int outOffset;
    private int outLength;
    private JobTexts job;
    private boolean isRefused;
    private boolean hasEnded;

    /**
     * Takes the stream.
     *
     * @param jobs the texts of a job, null if there is no room for one
     */
    RendezvousConnection(ByteStream stream, Function<String, JobTexts> jobs) {
        this.stream = stream;
        this.jobs = jobs;
    }

    boolean hasEnded() {
        return hasEnded;
    }

    /** Forgets what was published, and ends; the job that it was of, or null. */
    JobTexts close() {
        stream.close();
        if (job != null) {
            job.removeAll(this);
        }
        return job;
    }

    /** Writes what waits; only then takes the next request. */
    int doWork() {
        if (outOffset < outLength) {
            return write();
        }
        if (isRefused) {
            hasEnded = true;
            return 1;
        }
        int count = stream.read(in, inLength, in.capacity() - inLength);
        if (count < 0) {
            hasEnded = true;
            return 1;
        }
        inLength += count;
        return count + takeRequest();
    }

    private int write() {
        int count = stream.write(out, outOffset, outLength - outOffset);
        if (count < 0) {
            hasEnded = true;
            return 1;
        }
        outOffset += count;
        if (outOffset == outLength && out.capacity() > OUT_KEPT) {
            out = new ExpandableArrayBuffer();
        }
        return count;
    }

    private int takeRequest() {
        for (int i = 0; i < inLength; i++) {
            if (in.getByte(i) == '\n') {
                String line = in.getStringWithoutLengthUtf8(0, i);
                inLength -= i + 1;
                in.putBytes(0, in, i + 1, inLength);
                answer(line);
                return 1;
            }
        }
        if (inLength == in.capacity()) {
            refuse("the request is too long");
            return 1;
        }
        return 0;
    }

    private void send(String text) {
        outOffset = 0;
        outLength = out.putStringWithoutLengthUtf8(0, text);
    }

    private void refuse(String reason) {
        isRefused = true;
        send("error " + reason + "\n");
    }

    private void answer(String line) {
        String[] words = line.split(" ", -1);
        try {
            for (int i = 1; i < words.length; i++) {
                words[i] = URLDecoder.decode(words[i], UTF_8);
            }
        } catch (IllegalArgumentException e) {
            refuse("the request is malformed");
            return;
        }
        String request = words[0] + " " + (words.length - 1);
        if (request.equals(RendezvousServer.MAGIC + " 1") && job == null) {
            enter(words[1]);
        } else if (job == null) {
            refuse("the first request must be " + RendezvousServer.MAGIC);
        } else {
            answer(request, words);
        }
    }

    private void enter(String name) {
        job = jobs.apply(name);
        if (job == null) {
            refuse("there is no memory for another job");
            return;
        }
        job.enter();
        send("0\n");
    }

    private void answer(String request, String[] words) {
        switch (request) {
            case "folders 0" -> sendFolders();
            case "read 1" -> sendTexts(job.read(words[1]));
            case "put 3" -> put(words[1], words[2], words[3]);
            case "publish 3" -> publish(words[1], words[2], words[3]);
            case "remove 2" -> {
                job.remove(words[1], words[2]);
                send("0\n");
            }
            default -> refuse("there is no such request");
        }
    }

    private void publish(String folder, String name, String text) {
        if (job.claim(folder, name, this)) {
            put(folder, name, text);
        } else {
            refuse(
                    "rank %s of job %s has published already: is the job's name used twice?"
                            .formatted(name, job.name()));
        }
    }

    private void put(String folder, String name, String text) {
        if (text.length() > RendezvousStore.TEXT_MAX || !job.put(folder, name, text)) {
            refuse("the job has no room for this text");
        } else {
            send("0\n");
        }
    }

    private void sendFolders() {
        StringBuilder text = new StringBuilder().append(job.folderCount()).append('\n');
        job.folders().forEach(name -> text.append(URLEncoder.encode(name, UTF_8)).append('\n'));
        send(text.toString());
    }

    private void sendTexts(Map<String, String> texts) {
        StringBuilder text = new StringBuilder().append(texts.size()).append('\n');
        texts.forEach(
                (name, value) ->
                        text.append(URLEncoder.encode(name, UTF_8))
                                .append(' ')
                                .append(URLEncoder.encode(value, UTF_8))
                                .append('\n'));
        send(text.toString());
    }
}
