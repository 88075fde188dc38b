"""A user's schema: .proto files compiled by protoc, or a FileDescriptorSet as it made one.

No code is generated and none is run, so it does not matter which version of protoc made it. Each
schema has a pool of its own: two may say different things of one name.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from serialpack.errors import MissingLibraryError, UsageError
from serialpack.hidden import temporary_folder
from serialpack.serializers._protoschema import Message, ProtoSchema
from serialpack.serializers._schemafile import check_size, read_schema
from serialpack.stages.stage import import_library, is_installed
from serialpack.unstarted import WorkerNotStartedError


def compiled(path: Any) -> bytes:
    """The FileDescriptorSet of the schema at ``path``; UsageError with protoc's words."""
    data = read_schema(path)
    if os.fspath(path).endswith(".proto"):
        data = _run_protoc(os.fspath(path))
    protos = import_library("google.protobuf.descriptor_pb2", "protobuf")
    from google.protobuf.message import DecodeError

    files = protos.FileDescriptorSet()
    try:
        files.ParseFromString(data)
    except DecodeError:
        raise UsageError(f"{path} is neither a .proto file nor a FileDescriptorSet") from None
    for file in files.file:
        file.ClearField("source_code_info")  # comments and places: not needed here
    data = bytes(files.SerializeToString(deterministic=True))
    check_size(data)
    return data


def _run_protoc(path: str) -> bytes:
    if not is_installed("grpc_tools.protoc"):
        raise MissingLibraryError(
            "a .proto file is compiled by grpcio-tools, which is not installed",
            hint="pip install 'serialpack[protobuf]', or give a FileDescriptorSet",
        )
    folder, name = os.path.split(Path(path).absolute())
    with temporary_folder() as place:
        target = Path(place) / "schema.binpb"
        # -P: the current folder, whose files are data, is no place to import from.
        command = [sys.executable, "-P", "-m", "grpc_tools.protoc"]
        command += [f"-I{folder}", "--include_imports", f"--descriptor_set_out={target}"]
        try:
            done = subprocess.run([*command, name], capture_output=True, text=True, check=False)
        except OSError as error:
            raise WorkerNotStartedError(error) from error
        if done.returncode != 0:
            said = re.search(r"^.*\.proto:.*", done.stderr, re.MULTILINE)
            why = said[0] if said else f"exit {done.returncode}"
            raise UsageError(f"protoc cannot compile the schema: {why}")
        return target.read_bytes()


def full_name(schema: bytes, name: Any) -> str:
    """The full name of the message ``name``, which may leave its package out; UsageError."""
    if not isinstance(name, str):
        raise UsageError("the message is given by its name")
    there = _message_names(schema)
    if name in there:
        return name
    found = [each for each in there if each.endswith(f".{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"the schema has more than one message {name}", hint=", ".join(found))
    import difflib

    near = difflib.get_close_matches(name, there, n=3, cutoff=0.3) or there[:3]
    raise UsageError(f"the schema has no message {name}", hint=f"it has {', '.join(near)}")


def _message_names(schema: bytes) -> list[str]:
    from google.protobuf.descriptor_pb2 import FileDescriptorSet

    names: list[str] = []
    stack: list[tuple[str, Any]] = []
    for file in FileDescriptorSet.FromString(schema).file:
        stack += [(file.package, each) for each in file.message_type]
    while stack:
        package, each = stack.pop()
        names.append(f"{package}.{each.name}" if package else each.name)
        stack += [(names[-1], inner) for inner in each.nested_type if not inner.options.map_entry]
    return sorted(names)


def message_of(schema: bytes, name: str) -> Message:
    """The message ``name`` of a FileDescriptorSet; ValueError where it cannot be had."""
    from google.protobuf.descriptor_pb2 import FileDescriptorSet
    from google.protobuf.descriptor_pool import DescriptorPool
    from google.protobuf.message import DecodeError

    try:
        files = FileDescriptorSet.FromString(schema)
        pool = DescriptorPool()
        for file in files.file:
            pool.Add(file)
        return ProtoSchema().message(pool.FindMessageTypeByName(name))
    except (DecodeError, TypeError, KeyError, RecursionError) as error:
        raise ValueError(str(error) or type(error).__name__) from None
