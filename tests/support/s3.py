"""A small server of the tests' own that speaks the part of S3's protocol by which files are listed and read.

Arrow's own client talks to it over HTTP on this machine, so that what it sends and how it takes errors is
real; only the objects are in memory.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

import pytest
from pyarrow import fs

KEY, SECRET = "posterior-tests", "not-a-secret"
WHEN = "Wed, 01 Jan 2025 00:00:00 GMT"


@dataclass
class S3Server:
    """Where the server is, and the objects of each bucket; objects may be put and changed at any time."""

    address: str
    buckets: dict[str, dict[str, bytes]] = field(default_factory=dict)

    @property
    def environment(self) -> dict[str, str]:
        """What a user would set to reach it."""
        return {
            "AWS_ENDPOINT_URL": f"http://{self.address}",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AWS_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
        }

    def filesystem(self, key: str = KEY) -> fs.S3FileSystem:
        """A file system of Arrow that reaches it."""
        return fs.S3FileSystem(
            access_key=key,
            secret_key=SECRET,
            endpoint_override=self.address,
            scheme="http",
            region="us-east-1",
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=1),
        )


@pytest.fixture(scope="session")
def s3() -> Iterator[S3Server]:
    """A server for this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Requests)
    server.store = S3Server(f"127.0.0.1:{server.server_address[1]}")  # type: ignore[attr-defined]
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server.store  # type: ignore[attr-defined]
    server.shutdown()
    server.server_close()
    thread.join()


class _Requests(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: object) -> None:
        """Nothing: the tests tell what went wrong."""

    def do_HEAD(self) -> None:
        self._answer()

    def do_GET(self) -> None:
        self._answer()

    def _answer(self) -> None:
        url = urlsplit(self.path)
        bucket, _, key = unquote(url.path).lstrip("/").partition("/")
        objects = self.server.store.buckets.get(bucket)  # type: ignore[attr-defined]
        if f"Credential={KEY}/" not in self.headers.get("Authorization", ""):
            self._refuse(403, "AccessDenied", "Access Denied")
        elif objects is None:
            self._refuse(404, "NoSuchBucket", "The specified bucket does not exist")
        elif not key:
            asked = {name: values[0] for name, values in parse_qs(url.query).items()}
            self._send(200, _listing(bucket, objects, asked) if "list-type" in asked else b"")
        elif key not in objects:
            self._refuse(404, "NoSuchKey", "The specified key does not exist.")
        else:
            self._object(objects[key])

    def _object(self, content: bytes) -> None:
        asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if asked is None:
            self._send(200, content, kind="binary/octet-stream")
            return
        first, last = int(asked[1]), min(int(asked[2] or len(content)), len(content) - 1)
        where = f"bytes {first}-{last}/{len(content)}"
        self._send(206, content[first : last + 1], kind="binary/octet-stream", **{"Content-Range": where})

    def _refuse(self, status: int, code: str, message: str) -> None:
        told = f"<Error><Code>{code}</Code><Message>{message}</Message></Error>"
        self._send(status, told.encode())

    def _send(self, status: int, body: bytes, kind: str = "application/xml", **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Last-Modified": WHEN, "ETag": '"1"', **headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)


def _listing(bucket: str, objects: dict[str, bytes], asked: dict[str, str]) -> bytes:
    """The objects whose names begin so; with a delimiter what follows it is left out, as in a folder."""
    prefix, delimiter = asked.get("prefix", ""), asked.get("delimiter", "")
    keys, folders = [], set()
    for key in sorted(objects):
        if not key.startswith(prefix):
            continue
        inside, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else (key, "", "")
        if cut:
            folders.add(f"{prefix}{inside}{delimiter}")
        else:
            keys.append(key)
    told = [
        f"<Contents><Key>{escape(key)}</Key><LastModified>2025-01-01T00:00:00.000Z</LastModified>"
        f"<ETag>1</ETag><Size>{len(objects[key])}</Size><StorageClass>STANDARD</StorageClass></Contents>"
        for key in keys[: int(asked.get("max-keys", 1000))]
    ]
    told += [f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders)]
    return (
        f"<?xml version='1.0' encoding='UTF-8'?><ListBucketResult><Name>{bucket}</Name>"
        f"<Prefix>{escape(prefix)}</Prefix><KeyCount>{len(told)}</KeyCount><IsTruncated>false</IsTruncated>"
        f"{''.join(told)}</ListBucketResult>"
    ).encode()
