"""What a file is that is no model file, by how it begins."""

from string import printable

# Signatures at the beginning of a file; the first that fits is taken.
SIGNATURES: tuple[tuple[bytes, str], ...] = (
    (b"\x89PNG", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"%PDF", "a PDF document"),
    (b"PK\x03\x04", "a zip archive (such as .npz, .xlsx or .docx)"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"\x28\xb5\x2f\xfd", "a zstandard archive"),
    (b"PAR1", "a Parquet table"),
    (b"ARROW1", "an Arrow table"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x89HDF", "an HDF5 file"),
    (b"SQLite format 3", "an SQLite database"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
)
PICKLE = "a pickle, which may run any program when it is opened (it was not opened)"
# Opcodes with which the protocols 2 to 5 begin: PROTO and its number.
PICKLES = tuple(bytes([0x80, protocol]) for protocol in range(2, 6))


def looks_like(start: bytes) -> str:
    """What a file that begins like this seems to be, in words; nothing where nobody can tell.

    >>> looks_like(bytes.fromhex("89504e470d0a1a0a"))
    'a PNG image'
    """
    for signature, name in SIGNATURES:
        if start.startswith(signature):
            return name
    if start.startswith(PICKLES):
        return PICKLE
    text = start.decode("utf-8", errors="replace").lstrip("\ufeff \t\r\n")
    if text[:1] == "<":
        return "an HTML or XML document"
    if text[:1] in ("{", "["):
        return "a JSON document"
    if all(byte >= 0x80 or chr(byte) in printable for byte in start) and "\ufffd" not in text[:-4]:
        return "a text"
    return ""
