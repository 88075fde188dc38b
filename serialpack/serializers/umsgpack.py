"""umsgpack: MessagePack messages, one after another, by u-msgpack-python."""

from __future__ import annotations

import io
from datetime import datetime
from typing import Any

from serialpack.formats.msgpack.values import TIMESTAMP, extension
from serialpack.formats.shared.recursion import frames_for
from serialpack.serializers._msgpack_shared import Messages
from serialpack.stages.stage import Buffer


class UMsgPackSerializer(Messages):
    """u-msgpack-python, which is pure Python. Tuples, times with another offset or none, and
    objects of classes that are derived from plain ones, are left to the proof: asking for more
    strictness makes it slower by a fourth.
    """

    library = "umsgpack"
    distribution = "u-msgpack-python"
    extra = "umsgpack"
    about = "MessagePack messages, by u-msgpack-python"

    def _dump(self, records: list[Any]) -> bytes:
        import umsgpack

        file = io.BytesIO()
        try:
            with frames_for(2):
                for record in records:
                    umsgpack.pack(record, file)
        except umsgpack.PackException as error:
            raise ValueError(str(error)) from None
        return file.getvalue()

    def _load(self, data: Buffer) -> list[Any]:
        import umsgpack

        file = io.BytesIO(data)
        records = []
        try:
            with frames_for(3):
                while file.tell() < len(data):
                    records.append(umsgpack.unpack(file, ext_handlers={TIMESTAMP: _raised}))
        except umsgpack.UnpackException as error:
            raise ValueError(str(error) or "the last message is not whole") from None
        return records


def _raised(whole: Any) -> Any:
    found = extension(whole.type, whole.data)
    return found if isinstance(found, datetime) else whole
