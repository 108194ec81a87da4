"""What ForeignClientsIT lets the Python client do."""

import sys

import numpy
import verbena


def refused(call):
    try:
        call()
    except verbena.StagingError as error:
        return error.status
    return "OK"


def commands():
    with verbena.connect() as server:
        for i in range(5):
            server.write(f"v{i}", bytes([ord("a") + i] * 8))
        server.write("large", 3 * numpy.arange(400_000, dtype=numpy.int64))
        server.write("vector", numpy.array([1.0, 2.0, 3.0]), type="double:3")
        print(server.run("show();"))
        print("long", len(server.run("create " + "y" * 1234)))
        print("refused", refused(lambda: server.run("nonsense")))
        server.drain(60)
        server.write("vector", b"x" * 4096)
        print("refused datasets", int(refused(lambda: server.drain(60)) == "CANCELLED"))
        print("behind", refused(lambda: server.run("show();")))
        server.drain(60)
        print("drained")


def files(folder):
    piece = numpy.arange(12, dtype=numpy.float32).reshape(2, 6)
    where = verbena.Piece("temperature", step=3, rank=2, shape=(4, 6), start=(2, 0))
    swapped = numpy.arange(100_000, dtype=">i4").reshape(100, 1000)
    vectors = numpy.arange(30.0)
    with verbena.connect() as server:
        assert server.write("piece_2", piece, piece=where) == "piece_2"
        server.write("swapped", swapped.T, piece=verbena.Piece("swapped"))
        server.write("vectors", vectors, type="double:3")
        vectors = vectors.reshape(10, 3)
        server.write("whole", vectors, verbena.Piece("whole"), type="double:3")
        server.write("moved", vectors, verbena.Piece("moved", shape=(20,), start=(5,)), "double:3")
        for wrong in vectors.reshape(30), vectors.reshape(3, 10):
            try:
                server.write("wrong", wrong, verbena.Piece("wrong"), type="double:3")
                print("taken", wrong.shape)
            except ValueError:
                pass
        server.drain(60)
    arrays = {"piece_2": piece, "swapped": swapped.T}
    arrays.update(dict.fromkeys(("vectors", "whole", "moved", "java"), vectors))
    for name, array in arrays.items():
        print("the same" if numpy.array_equal(verbena.read(folder, name), array) else "another")


def rules():
    """Of a server that breaks the rules: what is refused, and that the connection is then lost."""
    for command in ("longer", "empty", "large", "negative", "legal"):
        with verbena.connect() as server:
            print(command, refused(lambda: server.run(command)), refused(lambda: server.run("legal")))
    with verbena.connect() as server:
        server.write("v", b"x" * 8)
        for _ in range(2):
            print("drain", refused(lambda: server.drain(60)))
        print("behind", refused(lambda: server.run("legal")))


if __name__ == "__main__":
    {"commands": commands, "files": files, "rules": rules}[sys.argv[1]](*sys.argv[2:])
