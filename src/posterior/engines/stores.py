"""Files in object stores and other file systems: s3://, gs://, abfs://, hdfs://, and what fsspec knows.

A file system of Arrow names, opens and lists files; fragments carry it with them to workers of a cluster.
"""

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs

from posterior._text import listed
from posterior.engines.arrow import (
    FORMATS,
    FileEngine,
    FileFragment,
    ParquetFragment,
    is_shown,
    kind_of,
    matches,
    partition_keys,
    row_groups,
    to_dataset,
)
from posterior.engines.base import Fragment, FragmentError
from posterior.engines.opening import FILES

T = TypeVar("T")

WILD = re.compile(r"[*?\[]")
# Settings of an address come behind a question mark, which in a pattern stands for any letter.
SETTINGS = re.compile(r"\?(?=[a-z_]+=[^/]*$)")
# What to look at when a store refuses: its name, what credentials are looked for, and how to give them here.
CREDENTIALS = {
    "s3": "AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and, for stores that are not Amazon's, "
    "AWS_ENDPOINT_URL, or filesystem=pyarrow.fs.S3FileSystem(…)",
    "gs": "GOOGLE_APPLICATION_CREDENTIALS, or filesystem=pyarrow.fs.GcsFileSystem(…)",
    "abfs": "the account's key or identity, or filesystem=pyarrow.fs.AzureFileSystem(…)",
}
ALSO = {"gcs": "gs", "abfss": "abfs", "az": "abfs"}
# Passwords before the bucket, in which those of Amazon may have a slash, and settings that are secret.
SECRETS = re.compile(
    r"(?<=s3://)([^/@:\s]*:)[^@\s]+(?=@)|(?<=://)([^/@:\s]*:)[^/@\s]+(?=@)"
    r"|((?:key|secret|token|password|credential|sas)[a-z_]*=)[^&\s'\"]+",
    re.IGNORECASE,
)


def shown(text: str) -> str:
    """An address, or a message that repeats it, without the secrets in it.

    >>> shown("s3://me:ti/ger@bucket/data?secret_key=lion&region=eu"), shown("abfs://data@account/x")
    ('s3://me:***@bucket/data?secret_key=***&region=eu', 'abfs://data@account/x')
    """
    return SECRETS.sub(lambda found: f"{found[1] or found[2] or found[3]}***", text)


def is_address(source: Any) -> bool:
    """Whether a source names files in a store, or in a file system by file://.

    >>> [is_address(each) for each in ("s3://bucket/data", "data/*.csv", "postgresql://host/db")]
    [True, False, False]
    """
    return isinstance(source, str) and source.partition("://")[0] in FILES and "://" in source


def local_path(address: str) -> str:
    """The path that file:// stands for.

    >>> local_path("file:///data/a%20b.parquet")
    '/data/a b.parquet'
    """
    return unquote(address.removeprefix("file://").removeprefix("localhost"))


@dataclass(frozen=True)
class Store:
    """A file system, and what the paths in it are called before the path."""

    filesystem: Any
    prefix: str = ""

    def called(self, path: str) -> str:
        """The name of a file in messages."""
        return f"{self.prefix}{path}"

    @contextmanager
    def explained(self, path: str) -> Iterator[None]:
        """One line in place of what a store answers, with what to look at."""
        try:
            yield
        except FragmentError:
            raise
        except (OSError, pa.ArrowException) as error:
            remedy = self._remedy if isinstance(error, OSError) else ""
            raise OSError(f"{self.called(path)} cannot be read: {_line(error)}{remedy}") from error

    @property
    def _remedy(self) -> str:
        scheme = self.prefix.partition("://")[0]
        known = CREDENTIALS.get(ALSO.get(scheme, scheme))
        return f"; check the name, the network and credentials ({known})" if known else ""

    def listing(self, folder: str, *, recursive: bool) -> list[str]:
        """The files in a folder, sorted; none where it is not there."""
        wanted = fs.FileSelector(folder, allow_not_found=True, recursive=recursive)
        with self.explained(folder):
            found = self.filesystem.get_file_info(wanted)
        return sorted(each.path for each in found if each.type == fs.FileType.File)

    def found(self, named: str) -> list[str]:
        """The files that a path, a pattern or a folder of this file system names, sorted."""
        parts = PurePosixPath(named).parts
        wild = next((i for i, part in enumerate(parts) if WILD.search(part)), None)
        if wild is not None:
            recursive = "**" in parts or wild < len(parts) - 1
            below = self.listing(str(PurePosixPath(*parts[:wild])), recursive=recursive)
            pattern = PurePosixPath(named.lstrip("/")).parts
            some = [path for path in below if _among(PurePosixPath(path.lstrip("/")), pattern)]
        else:
            with self.explained(named):
                kind = self.filesystem.get_file_info(named).type
            if kind == fs.FileType.File:
                return [named]
            some = [path for path in self.listing(named, recursive=True) if _is_inside(path, named)]
        if not some:
            raise FileNotFoundError(
                f"no file matches {self.called(named)}; give files, a pattern such as "
                f"'{self.prefix}bucket/data/*.parquet', or a folder with {', '.join(FORMATS)} files"
            )
        return some


def _among(path: PurePosixPath, pattern: Sequence[str]) -> bool:
    """Whether a file fits a pattern, or lies in a folder that does and can be scanned."""
    if matches(path.parts, pattern):
        return True
    folders = [folder for folder in path.parents if matches(folder.parts, pattern)]
    return any(_is_inside(str(path), str(folder)) for folder in folders)


def _is_inside(path: str, folder: str) -> bool:
    """Whether a file that lies in a folder is one that is scanned with it."""
    inner = PurePosixPath(path.lstrip("/")).relative_to(folder.lstrip("/"))  # which some stores begin with
    return inner.suffix.lower() in FORMATS and is_shown(inner)


def _line(error: Exception) -> str:
    return " ".join(str(error).split())


def opened_store(address: str, filesystem: Any = None) -> tuple[Store, str]:
    """The store of an address such as s3://bucket/data, and the path in it; or of a given file system."""
    scheme, there, rest = address.partition("://")
    prefix, named = (f"{scheme}://", rest) if there else ("", address)
    if filesystem is not None:
        return Store(_of_arrow(filesystem), prefix), named.rstrip("/")
    settings = SETTINGS.search(named)
    named, query = (named[: settings.start()], named[settings.start() :]) if settings else (named, "")
    store = Store(_connected(scheme, named, query), prefix)
    # Credentials before the bucket, and the account or server behind it, belong to the connection.
    host = named.partition("/")[0]
    if scheme in ("hdfs", "viewfs"):
        named = urlsplit(address).path
    elif "@" in host:
        inside = host.partition("@")[0 if scheme in ("abfs", "abfss") else 2]
        named = named.replace(host, inside, 1)
    return store, named.rstrip("/")


def _connected(scheme: str, named: str, query: str) -> Any:
    bucket = named.partition("/")[0]
    address = f"{scheme}://{bucket}{query}"
    endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    try:
        if scheme == "s3" and not query and "@" not in bucket and (endpoint or region):
            # Not from the address, by which Arrow would ask Amazon for the region of the bucket.
            where = urlsplit(endpoint or "")
            own = {"endpoint_override": where.netloc, "scheme": where.scheme} if endpoint else {}
            return fs.S3FileSystem(region=region, **own)
        return fs.FileSystem.from_uri(address)[0]
    except (pa.ArrowInvalid, NotImplementedError):
        return _by_fsspec(address)
    except (OSError, pa.ArrowException) as error:
        remedy = CREDENTIALS.get(ALSO.get(scheme, scheme))
        told = f"; check the name, the network and credentials ({remedy})" if remedy else ""
        # Not `from error`: Arrow repeats an address that it cannot read, with its password.
        raise OSError(f"{shown(address)} cannot be reached: {shown(_line(error))}{told}") from None


def _by_fsspec(address: str) -> Any:
    try:
        import fsspec  # noqa: PLC0415  (only for what Arrow does not know)
    except ImportError:
        raise ImportError(
            f"{shown(address)}: Arrow knows no such file system here; pip install fsspec with what it needs "
            "for it, or pass filesystem="
        ) from None
    try:
        return _of_arrow(fsspec.core.url_to_fs(address)[0])
    except (ImportError, ValueError) as error:
        raise ImportError(f"{shown(address)}: {shown(_line(error))}; or pass filesystem=") from None


def _of_arrow(filesystem: Any) -> Any:
    """A file system of Arrow, which may stand for one of fsspec."""
    if isinstance(filesystem, fs.FileSystem):
        return filesystem
    if not (hasattr(filesystem, "ls") and hasattr(filesystem, "open")):
        raise TypeError(
            f"filesystem must be one of pyarrow.fs or of fsspec, found {type(filesystem).__name__}"
        )
    return fs.PyFileSystem(fs.FSSpecHandler(filesystem))


@dataclass(frozen=True)
class StoredFragment(ParquetFragment):
    """Some row groups of a Parquet file in a store; it can be sent to a worker with its file system."""

    store: Any = None

    def _file(self) -> Any:
        # Reads of neighbouring columns become one request, each of which takes long.
        path = self.name.removeprefix(self.store.prefix)
        return pq.ParquetFile(path, filesystem=self.store.filesystem, pre_buffer=True)


class StoredFiles(FileEngine):
    """Files of one kind in a file system of Arrow."""

    def __init__(self, source: Any, filesystem: Any = None) -> None:
        given = [source] if isinstance(source, str | os.PathLike) else list(source)
        self._given = [os.fspath(each) for each in given]
        self._stored: list[str] = []
        store: Store | None = None
        for each in self._given:
            other, named = opened_store(each, filesystem)
            if store is not None and (other.prefix, other.filesystem) != (store.prefix, store.filesystem):
                first, second = shown(self._given[0]), shown(each)
                raise ValueError(f"{first} and {second} are in two stores; scan those of one")
            store = other
            self._stored += other.found(named)
        if store is None:
            raise ValueError("no file is named; give at least one")
        self._store = store
        self._paths = [Path(path) for path in self._stored]
        self.kind = kind_of(self._paths)
        self._dataset = self._asked(lambda: to_dataset(self._stored, self.kind, store.filesystem))

    def _asked(self, question: Callable[[], T]) -> T:
        with self._store.explained(self._stored[0]):
            return question()

    @property
    def name(self) -> str:
        """The files: one or two by themselves, more as they were named."""
        return listed(self.paths if len(self._stored) <= 2 else [shown(each) for each in self._given], 2)

    @property
    def paths(self) -> Sequence[str]:
        """The addresses of all files."""
        return [self._store.called(path) for path in self._stored]

    def would_read(self, path: Path) -> bool:
        """Whether a file of this machine would be read: none is."""
        return False

    def file_states(self) -> list[list[Any]]:
        """What tells whether files are still the same."""
        with self._store.explained(self._stored[0]):
            found = self._store.filesystem.get_file_info(self._stored)
        return [[self._store.called(each.path), each.size, each.mtime_ns] for each in found]

    @property
    def counted_rows(self) -> int | None:
        """The number of rows that the footers of Parquet files tell; None of other kinds."""
        return self._asked(lambda: super(StoredFiles, self).counted_rows)

    @cached_property
    def fragments(self) -> Sequence[Fragment]:
        """Row groups of each file, some together; of other kinds than Parquet whole files."""
        found = list(self._dataset.get_fragments())
        if self.kind != "parquet":
            return [FileFragment(each, self.schema) for each in found]
        return [
            StoredFragment(
                self._store.called(each.path), groups, self.schema, partition_keys(each), self._store
            )
            for each in found
            for groups in row_groups(each)
        ]
