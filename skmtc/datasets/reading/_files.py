"""Reading local files within limits: plain, gzip or zip, streamed, and never outside their folder.

Content is never executed. Compression is detected from the first bytes of a file.
Damage does not stop reading: the data before it are returned, and the damage is recorded.
"""

import codecs
import re
import tempfile
import zipfile
import zlib
from contextlib import contextmanager
from pathlib import Path

CHUNK_BYTES = 2**20
MAX_BYTES = 8 * 2**30
MAX_LINE = 2**26

GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")  # the second is that of an empty archive
# Python unpacks these in pieces of bounded size, whatever sizes the archive states.
ZIP_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1
# Other compressed files are refused: only what is unpacked here is counted.
OTHER_MAGIC = {
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstandard",
}
BZIP2_MAGIC = re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)")
BYTE_ORDER_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_ESCAPED_BYTE = re.compile("[\udc80-\udcff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


class Source:
    """A file that is read once, from start to end.

    Parameters
    ----------
    path : path-like
        The file.

    max_bytes : int
        Refuse the file if it is larger than this, once decompressed.

    n_before : int, default=0
        Bytes of other files of the same table, which count, too.

    Attributes
    ----------
    damage : str or None
        Description of damage in the compressed data, once it is reached.

    n_recoded : int
        Bytes that are not in the encoding of the file, and were read as Latin-1.
    """

    def __init__(self, path, max_bytes=MAX_BYTES, *, n_before=0):
        self.path = check_file(path)
        self.max_bytes = max_bytes
        self.n_before = n_before
        self.damage = None
        self.n_recoded = 0

    def chunks(self):
        """Yield the decompressed bytes in pieces of moderate size."""
        n_bytes = self.n_before
        with open(self.path, "rb") as file:
            first = file.peek(16)[:16]
            _check_packing(first, self.path)
            for chunk in self._pieces(file, first):
                n_bytes += len(chunk)
                self.check_size(n_bytes)
                yield chunk

    def check_size(self, n_bytes):
        """Raise if there are more bytes than allowed."""
        if n_bytes > self.max_bytes:
            what = "A file" if self.n_before == 0 else "The files of a table"
            raise ValueError(
                f"{what} must not be larger than max_bytes={self.max_bytes} once decompressed; "
                f"got more from {str(self.path)!r}. Raise `max_bytes` if you trust the file."
            )

    def text(self):
        """Yield the text in pieces; UTF-8, or UTF-16 with a mark; stray bytes are Latin-1."""
        decoder = None
        for chunk in self.chunks():
            if decoder is None:
                encoding = _encoding(chunk)
                errors = "replace" if encoding == "utf-16" else "surrogateescape"
                decoder = codecs.getincrementaldecoder(encoding)(errors)
            yield self._mended(decoder.decode(chunk))
        if decoder is not None:
            yield self._mended(decoder.decode(b"", final=True))

    def lines(self):
        """Yield the lines of the text, without their ends and without empty ones."""
        rest = ""
        for piece in self.text():
            *lines, rest = (rest + piece).split("\n")
            yield from (line.rstrip("\r") for line in lines if line.strip())
            if len(rest) > MAX_LINE:
                raise ValueError(
                    f"A line must not be longer than {MAX_LINE} characters; got a longer one in "
                    f"{str(self.path)!r}. Check that the file is of the right format."
                )
        if rest.strip():
            yield rest.rstrip("\r")

    def report(self, load_report):
        """Count damage and repairs."""
        if self.damage:
            load_report.drop(f"ends of files: {self.damage}")
        if self.n_recoded:
            load_report.repair("bytes in a wrong encoding, read as Latin-1", self.n_recoded)

    def _pieces(self, file, first):
        if first.startswith(GZIP_MAGIC):
            return self._gunzip(file)
        if first.startswith(ZIP_MAGIC):
            return self._unzip(file)
        return iter(lambda: file.read(CHUNK_BYTES), b"")

    def _unzip(self, file):
        """Yield pieces of the only file in an archive, up to the end or to the first damage."""
        try:
            with zipfile.ZipFile(file) as archive:
                member = _only_member(archive, self.path)
                with archive.open(member) as unpacked:
                    yield from iter(lambda: unpacked.read(CHUNK_BYTES), b"")
        except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError):
            self.damage = "damaged zip data"

    def _gunzip(self, file):
        """Yield decompressed pieces up to the end or to the first damage."""
        unpacker, packed = zlib.decompressobj(wbits=31), file.read(CHUNK_BYTES)
        while True:
            before = unpacker.copy()
            try:
                piece = unpacker.decompress(packed, CHUNK_BYTES)
            except zlib.error:
                self.damage = "damaged gzip data"
                yield from _up_to_damage(before, packed)
                return
            if piece:
                yield piece
            if unpacker.eof:  # another member may follow, or zeros that pad the file
                packed = unpacker.unused_data.lstrip(b"\0") or file.read(CHUNK_BYTES)
                if not packed:
                    return
                unpacker = zlib.decompressobj(wbits=31)
            else:
                packed = unpacker.unconsumed_tail or file.read(CHUNK_BYTES)
                if not packed and not piece:
                    self.damage = "truncated gzip data"
                    return

    def _mended(self, text):
        """Turn bytes that did not decode into Latin-1 characters."""
        if text.isascii():
            return text
        text, n_bytes = _ESCAPED_BYTE.subn(lambda m: chr(ord(m.group()) - 0xDC00), text)
        self.n_recoded += n_bytes
        return text


def _only_member(archive, path):
    """Return the file in an archive; folders and what macOS adds do not count."""
    members = [
        member
        for member in archive.infolist()
        if not member.is_dir() and not member.filename.startswith("__MACOSX/")
    ]
    if len(members) != 1:
        names = [member.filename for member in members[:5]]
        raise ValueError(
            f"A zip file must hold one file; got {len(members)} in {str(path)!r}, {names}. Unpack "
            "it, and name one of its files."
        )
    (member,) = members
    if member.compress_type not in ZIP_METHODS or member.flag_bits & ENCRYPTED:
        raise ValueError(
            f"A zip file must be packed by the method deflate, without a password; got another in "
            f"{str(path)!r}. Unpack it."
        )
    return member


def _check_packing(first, path):
    """Refuse compressed files that cannot be unpacked within limits."""
    found = next((name for magic, name in OTHER_MAGIC.items() if first.startswith(magic)), None)
    if found is None and BZIP2_MAGIC.match(first):
        found = "bzip2"
    if found is not None:
        raise ValueError(
            f"A compressed file must be a gzip or zip file; got {found} data in {str(path)!r}. "
            "Unpack it, or pack it by gzip."
        )


def check_file(path):
    """Check that a path is a file."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(
            f"The path must be that of a file; got {str(path)!r}, which is "
            f"{'a folder' if path.is_dir() else 'not there'}. Check the path; nothing is "
            "downloaded."
        )
    return path


def check_folder(path):
    """Check that a path is a folder."""
    path = Path(path)
    if not path.is_dir():
        raise NotADirectoryError(
            f"The path must be that of a folder; got {str(path)!r}, which is "
            f"{'a file' if path.is_file() else 'not there'}. Check the path; nothing is downloaded."
        )
    return path


def find_file(folder, *names):
    """Find the first of some files in a folder, plain or with .gz; None where there is none."""
    for name in names:
        for candidate in (Path(folder) / name, Path(folder) / f"{name}.gz"):
            if candidate.exists() or candidate.is_symlink():
                return inside(folder, candidate)
    return None


def inside(folder, path):
    """Return a path, and refuse one that leads out of its folder, e.g. by a link."""
    if not path.resolve().is_relative_to(Path(folder).resolve()):
        raise ValueError(
            f"Files must lie inside the given folder {str(folder)!r}; got {str(path)!r}, which "
            f"leads to {str(path.resolve())!r}. Copy the file into the folder."
        )
    return path


@contextmanager
def plain_file(path, max_bytes=MAX_BYTES, *, n_before=0):
    """Return the path of a file, or of a decompressed copy that lives as long as the context."""
    source = Source(path, max_bytes, n_before=n_before)
    with open(source.path, "rb") as file:
        packed = file.read(4).startswith((GZIP_MAGIC, *ZIP_MAGIC))
    if not packed:
        yield source.path
        return
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "plain"
        with open(copy, "wb") as file:
            file.writelines(source.chunks())
        if source.damage:
            raise ValueError(
                f"{str(path)!r} must be a whole gzip or zip file; got {source.damage}. Fetch or "
                "compress it again."
            )
        yield copy


def clean_text(value):
    """Return text that any table format can hold; None for what is not text or is empty."""
    if not isinstance(value, str) or not value.strip():
        return None
    return value if value.isascii() else _SURROGATE.sub("\N{REPLACEMENT CHARACTER}", value)


def _up_to_damage(unpacker, packed):
    """Unpack byte by byte, since a call that reaches damage returns none of its output."""
    for i in range(len(packed)):
        try:
            piece = unpacker.decompress(packed[i : i + 1])
        except zlib.error:
            return
        if piece:
            yield piece


def _encoding(first_bytes):
    for mark, encoding in BYTE_ORDER_MARKS.items():
        if first_bytes.startswith(mark):
            return encoding
    return "utf-8"
