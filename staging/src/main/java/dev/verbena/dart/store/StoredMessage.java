package dev.verbena.dart.store;

import dev.verbena.agent.DurableStore.Completion;
import dev.verbena.agent.DurableStore.DurableFile;

/**
 * How far a message is on its way to a file with its final name, and what the receiver's journal
 * knows of that. Others read the fields; they change by what the methods say.
 */
abstract class StoredMessage {
    /** Parts are still missing. */
    public static final int RECEIVING = 0;

    /** Complete; its file is being forced. */
    static final int FORCING = 1;

    /** Forced; the journal is asked to remember that the file is about to get its final name. */
    static final int PROMISING = 2;

    /** Its file is being renamed. */
    static final int RENAMING = 3;

    /** Has its final name already: a receiver before this one gave it. */
    public static final int RENAMED = 4;

    /** Delivered, and not to be acknowledged before its step was handled. */
    public static final int HELD = 5;

    /** Delivered, as strongly as wanted. */
    static final int SETTLED = 6;

    int state;

    /** The name that its file is to get. */
    String fileName = "";

    /** The name of its file until then. */
    String temporaryName = "";

    DurableFile file;
    Completion rename;

    /** Bytes of the payload that the file was asked to force. */
    long forceAsked;

    /** Checksum of all of it that its promise holds; see {@link #isSumPromised}. */
    int promisedSum;

    /** A receiver before this one has written {@link #promisedSum} into its journal. */
    boolean isSumPromised;

    /** Frames of it are settled although it is not complete: its beginning does not come again. */
    boolean isBegunSettled;

    /** Bytes of the payload in these; none, if the first has no room beside the metadata. */
    long settledEnd;

    /** As {@link #settledEnd}, as far as the journal was told; -1: of nothing. */
    long journaledEnd = -1;

    /** The journal has been told of this message. */
    boolean isJournaled;

    /** Round of the journal that remembers the promised name; 0: none. */
    long promiseRound;

    /** Nothing of it is stored, and nothing is known of it. */
    final void beginStoring() {
        state = RECEIVING;
        fileName = "";
        temporaryName = "";
        file = null;
        rename = null;
        forceAsked = -1;
        settledEnd = 0;
        isBegunSettled = false;
        journaledEnd = -1;
        isJournaled = false;
        promiseRound = 0;
        isSumPromised = false;
    }

    // ---- as the journal of an earlier receiver tells

    /** So much of the payload was settled. */
    final void restoreProgress(long end) {
        settledEnd = end;
        isBegunSettled = true;
    }

    /**
     * Its name was promised.
     *
     * @param isSumKnown earlier versions wrote no sum
     */
    final void restorePromise(boolean isSumKnown, int sum) {
        state = PROMISING;
        promiseRound = ReceiverJournal.EARLIER;
        isSumPromised = isSumKnown;
        promisedSum = sum;
    }

    /** The journal that goes on knows what the earlier one did. */
    final void restored() {
        isJournaled = true;
        journaledEnd = isBegunSettled ? settledEnd : -1;
    }

    /** It has its final name already. */
    final void foundRenamed() {
        state = RENAMED;
    }

    // ---- what the journal is told

    /** The journal knows that it has begun. */
    final void journaled() {
        isJournaled = true;
    }

    /** The journal may know it by another name, and is told of it once more. */
    final void journalAnew() {
        isJournaled = false;
    }

    /** The journal knows how far it is settled. */
    final void progressJournaled() {
        journaledEnd = settledEnd;
    }

    /** Its name is promised by this round of the journal, or was by one before. */
    final void promisedIn(long round) {
        promiseRound = promiseRound == 0 ? round : promiseRound;
    }

    /** A frame of it is settled: so much of the payload does not come again. */
    final void settledTo(long payloadEnd) {
        settledEnd = Math.max(settledEnd, payloadEnd);
        isBegunSettled = true;
    }

    // ---- its file

    final void named(String name) {
        fileName = name;
    }

    final void temporarilyNamed(String name) {
        temporaryName = name;
    }

    final void openFile(DurableFile its) {
        file = its;
    }

    /**
     * Goes on in a file of an earlier receiver, or of before a failure.
     *
     * @param length bytes of the payload, forced
     */
    final void goOnIn(DurableFile its, long length) {
        file = its;
        forceAsked = length;
    }

    /** Only the beginning of it is stored, and nothing is promised. */
    final void goOnStoring(long length) {
        state = RECEIVING;
        promiseRound = 0;
        forceAsked = length;
        rename = null;
    }

    /** Asks for its beginning to be forced. */
    final void force(long length) {
        forceAsked = length;
        file.force();
    }

    /** Asks for all of it to be forced: it is complete. */
    final void forceComplete() {
        file.force();
        state = FORCING;
    }

    /** All of it is forced. */
    final void forced(boolean needsPromise) {
        state = needsPromise ? PROMISING : RENAMING;
    }

    /** The journal remembers its name. */
    final void promised() {
        state = RENAMING;
    }

    /** It has another name than the one that was promised. */
    final void promiseAnew() {
        journalAnew();
        promiseRound = 0;
        state = PROMISING;
    }

    final void beginRename(Completion its) {
        rename = its;
    }

    /** Its file has its name, and needs nothing more. */
    final void renamed() {
        file = null;
    }

    final void closeFile() {
        file.close();
        file = null;
    }

    // ---- its end

    /**
     * It was handled, or a step took it.
     *
     * @param isToWait until that step was handled
     */
    public final void delivered(boolean isToWait) {
        state = isToWait ? HELD : SETTLED;
    }

    /** Delivered, or no more to be. */
    public final void settle() {
        state = SETTLED;
    }

    public DurableFile file() {
        return file;
    }

    public long forceAsked() {
        return forceAsked;
    }

    public boolean isBegunSettled() {
        return isBegunSettled;
    }

    public Completion rename() {
        return rename;
    }

    public long settledEnd() {
        return settledEnd;
    }

    public int state() {
        return state;
    }

    public String temporaryName() {
        return temporaryName;
    }
}
