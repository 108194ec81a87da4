package dev.verbena.sinks.hdf5;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.verbena.staging.sink.StagedPiece;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands before the elements in an HDF5 file with the names of openPMD 1.1.0: the group {@code
 * /data/STEP/fields} and in it datasets whose elements are contiguous. HDF5 file format
 * specification, version 3.0: superblock version 0 (II.A), object headers version 1 (IV.A.1.a),
 * groups by link messages (IV.A.2.g). Nothing of it has a checksum.
 *
 * @param bytes the file's beginning
 * @param addresses where the elements of each field begin
 * @param length of the file
 */
record Hdf5Header(byte[] bytes, long[] addresses, long length) {
    private static final int SUPERBLOCK_LENGTH = 96;
    private static final int ALIGNMENT = 4096;
    private static final long UNDEFINED = -1;
    private static final byte[] SIGNATURE = {(byte) 0x89, 'H', 'D', 'F', '\r', '\n', 0x1A, '\n'};

    private static final int DATASPACE = 1;
    private static final int LINK_INFO = 2;
    private static final int DATATYPE = 3;
    private static final int FILL_VALUE = 5;
    private static final int LINK = 6;
    private static final int LAYOUT = 8;
    private static final int GROUP_INFO = 10;
    private static final int ATTRIBUTE = 12;

    /**
     * A field: a mesh record of openPMD.
     *
     * @param labels of the axes, the slowest first
     * @param spacing of the grid along each
     * @param offset of the first element along each
     */
    record Field(
            String name,
            StagedPiece.Scalar scalar,
            long[] shape,
            String[] labels,
            double[] spacing,
            double[] offset) {
        long size() {
            long size = scalar.size();
            for (long each : shape) {
                size = Math.multiplyExact(size, each);
            }
            return size;
        }
    }

    /** Of a file that is one of those of this pattern, in which {@code %T} stands for the step. */
    static Hdf5Header of(String pattern, long step, List<Field> fields) {
        // How long it is shows only once it is made; the addresses do not change its length.
        int length = new Builder(pattern, step, fields, new long[fields.size()], 0).at;
        long[] addresses = new long[fields.size()];
        long end = length;
        for (int i = 0; i < addresses.length; i++) {
            addresses[i] = (end + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
            end = addresses[i] + fields.get(i).size();
        }
        Builder builder = new Builder(pattern, step, fields, addresses, end);
        byte[] bytes = new byte[builder.at];
        builder.out.get(0, bytes);
        return new Hdf5Header(bytes, addresses, end);
    }

    private record Message(int type, byte[] data) {}

    /** Objects one behind another, those that others name first. */
    private static final class Builder {
        private final ByteBuffer out;
        private int at = SUPERBLOCK_LENGTH;

        Builder(String pattern, long step, List<Field> fields, long[] addresses, long end) {
            // A field of 32 dimensions, with the longest names, takes 3928 bytes.
            out = ByteBuffer.allocate(4096 + 4096 * fields.size()).order(ByteOrder.LITTLE_ENDIAN);
            List<Message> links = new ArrayList<>();
            for (int i = 0; i < addresses.length; i++) {
                Field field = fields.get(i);
                links.add(link(field.name, object(dataset(field, addresses[i]))));
            }
            long meshes = object(group(links));
            List<Message> iteration = group(List.of(link("fields", meshes)));
            iteration.add(attribute("time", (double) step));
            iteration.add(attribute("dt", 1.0));
            iteration.add(attribute("timeUnitSI", 1.0));
            List<Message> data = group(List.of(link(Long.toString(step), object(iteration))));
            List<Message> root = group(List.of(link("data", object(data))));
            root.add(attribute("openPMD", "1.1.0"));
            root.add(attribute("openPMDextension", 0));
            root.add(attribute("basePath", "/data/%T/"));
            root.add(attribute("meshesPath", "fields/"));
            root.add(attribute("iterationEncoding", "fileBased"));
            root.add(attribute("iterationFormat", pattern));
            root.add(attribute("software", "verbena"));
            superblock(object(root), end);
        }

        private void superblock(long root, long end) {
            out.put(0, SIGNATURE);
            out.put(13, (byte) 8).put(14, (byte) 8); // bytes of an address, of a length
            out.putShort(16, (short) 4).putShort(18, (short) 16); // of trees that are not used
            out.putLong(24, 0).putLong(32, UNDEFINED).putLong(40, end).putLong(48, UNDEFINED);
            out.putLong(56, 0).putLong(64, root);
        }

        /** An object header; its address. */
        private long object(List<Message> messages) {
            int begin = at;
            int size = 0;
            for (Message each : messages) {
                size += 8 + padded(each.data.length);
            }
            out.put(at, (byte) 1).putShort(at + 2, (short) messages.size());
            out.putInt(at + 4, 1).putInt(at + 8, size);
            at += 16;
            for (Message each : messages) {
                out.putShort(at, (short) each.type);
                out.putShort(at + 2, (short) padded(each.data.length));
                out.put(at + 8, each.data);
                at += 8 + padded(each.data.length);
            }
            return begin;
        }
    }

    private static int padded(int length) {
        return (length + 7) & -8;
    }

    private static ByteBuffer buffer(int length) {
        return ByteBuffer.allocate(length).order(ByteOrder.LITTLE_ENDIAN);
    }

    private static List<Message> group(List<Message> links) {
        List<Message> messages = new ArrayList<>();
        ByteBuffer info = buffer(18).putLong(2, UNDEFINED).putLong(10, UNDEFINED);
        messages.add(new Message(LINK_INFO, info.array()));
        messages.add(new Message(GROUP_INFO, new byte[2]));
        messages.addAll(links);
        return messages;
    }

    private static Message link(String name, long address) {
        byte[] bytes = name.getBytes(UTF_8);
        ByteBuffer data = buffer(3 + bytes.length + 8);
        data.put((byte) 1).put((byte) 0).put((byte) bytes.length).put(bytes).putLong(address);
        return new Message(LINK, data.array());
    }

    private static List<Message> dataset(Field field, long address) {
        List<Message> messages = new ArrayList<>();
        messages.add(new Message(DATASPACE, dataspace(field.shape)));
        messages.add(new Message(DATATYPE, type(field.scalar)));
        messages.add(new Message(FILL_VALUE, new byte[] {2, 2, 2, 0}));
        ByteBuffer layout = buffer(18).put((byte) 3).put((byte) 1);
        messages.add(new Message(LAYOUT, layout.putLong(address).putLong(field.size()).array()));
        messages.add(attribute("geometry", "cartesian"));
        messages.add(attribute("dataOrder", "C"));
        messages.add(attribute("axisLabels", field.labels));
        messages.add(attribute("gridSpacing", field.spacing));
        messages.add(attribute("gridGlobalOffset", field.offset));
        messages.add(attribute("gridUnitSI", 1.0));
        messages.add(attribute("unitDimension", new double[7]));
        messages.add(attribute("timeOffset", 0.0));
        messages.add(attribute("unitSI", 1.0));
        messages.add(attribute("position", new double[field.shape.length]));
        return messages;
    }

    /** No dimensions: one element. */
    private static byte[] dataspace(long... shape) {
        ByteBuffer data = buffer(8 + 8 * shape.length).put((byte) 1).put((byte) shape.length);
        data.position(8);
        for (long each : shape) {
            data.putLong(each);
        }
        return data.array();
    }

    private static byte[] type(StagedPiece.Scalar scalar) {
        return switch (scalar) {
            case CHAR, INT, LONG -> integer(scalar.size(), true);
            case FLOAT -> real(4, 23, 8, 127);
            case DOUBLE -> real(8, 52, 11, 1023);
        };
    }

    private static byte[] integer(int size, boolean isSigned) {
        ByteBuffer data = buffer(12).put((byte) 0x10).put((byte) (isSigned ? 8 : 0));
        data.position(4);
        return data.putInt(size).putShort((short) 0).putShort((short) (8 * size)).array();
    }

    private static byte[] real(int size, int mantissa, int exponent, int bias) {
        // The first bit of the mantissa is not stored; where the sign is.
        ByteBuffer data = buffer(20).put((byte) 0x11).put((byte) 0x20);
        data.put((byte) (8 * size - 1)).put((byte) 0).putInt(size);
        data.putShort((short) 0).putShort((short) (8 * size));
        data.put((byte) mantissa).put((byte) exponent).put((byte) 0).put((byte) mantissa);
        return data.putInt(bias).array();
    }

    /** Padded with zeros, ASCII. */
    private static byte[] string(int size) {
        return buffer(8).put((byte) 0x13).put((byte) 1).putInt(4, size).array();
    }

    private static Message attribute(String name, byte[] type, byte[] space, byte[] value) {
        byte[] bytes = (name + '\0').getBytes(UTF_8);
        ByteBuffer data = buffer(9 + bytes.length + type.length + space.length + value.length);
        data.put((byte) 3).put((byte) 0).putShort((short) bytes.length);
        data.putShort((short) type.length).putShort((short) space.length).put((byte) 0);
        return new Message(ATTRIBUTE, data.put(bytes).put(type).put(space).put(value).array());
    }

    private static Message attribute(String name, String value) {
        byte[] bytes = value.getBytes(UTF_8);
        return attribute(name, string(bytes.length), dataspace(), bytes);
    }

    private static Message attribute(String name, String[] values) {
        int longest = 1;
        for (String each : values) {
            longest = Math.max(longest, each.getBytes(UTF_8).length);
        }
        ByteBuffer bytes = buffer(longest * values.length);
        for (int i = 0; i < values.length; i++) {
            bytes.put(i * longest, values[i].getBytes(UTF_8));
        }
        return attribute(name, string(longest), dataspace(values.length), bytes.array());
    }

    private static Message attribute(String name, int value) {
        return attribute(name, integer(4, false), dataspace(), buffer(4).putInt(value).array());
    }

    private static Message attribute(String name, double value) {
        byte[] bytes = buffer(8).putDouble(value).array();
        return attribute(name, type(StagedPiece.Scalar.DOUBLE), dataspace(), bytes);
    }

    private static Message attribute(String name, double[] values) {
        ByteBuffer bytes = buffer(8 * values.length);
        for (double each : values) {
            bytes.putDouble(each);
        }
        return attribute(
                name, type(StagedPiece.Scalar.DOUBLE), dataspace(values.length), bytes.array());
    }
}
