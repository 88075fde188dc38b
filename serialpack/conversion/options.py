"""``ConvertOptions``: the arguments of ``files.convert``, but for source, target and formats."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypedDict

from serialpack.conversion.tables.shaping import Shaping
from serialpack.conversion.tables.survey_result import Below
from serialpack.pipeline.line import Elsewhere


class ConvertOptions(TypedDict):
    """The options of ``convert`` that say how."""

    format: str | None
    lossy: Collection[str]
    tagged: bool
    skip_bad: bool
    verify: bool
    trust: bool
    options: Mapping[str, Any]
    threads: int | None
    elsewhere: Elsewhere | None
    max_size: int | None
    force: bool
    fields: Sequence[str]
    strict: bool
    shaping: Shaping
    delimiter: str | None
    encoding: str | None
    no_header: bool
    table: str | None
    as_source: bool
    below: Below | None
