"""What the options of ``unpack --to`` say of how to convert."""

from __future__ import annotations

from serialpack.cli.options.requests import Conversion, UnpackRequest
from serialpack.conversion.options import ConvertOptions
from serialpack.conversion.tables.shaping import Shaping, column_names, types_of


def convert_options(asked: UnpackRequest) -> ConvertOptions:
    """What the options say of how to convert."""
    said = asked.conversion
    return {
        **asked.input.options(),
        "lossy": [rule for each in said.lossy for rule in each.split(",")],
        "tagged": said.tagged,
        "skip_bad": said.skip_bad,
        "verify": not said.no_verify,
        "trust": asked.trust,
        "threads": asked.outputs.threads,
        "elsewhere": None,
        "max_size": asked.max_size,
        "force": asked.outputs.force,
        "fields": said.fields,
        "strict": said.strict,
        "shaping": shaping_of(said),
        "table": said.table,
        "as_source": True,
        "below": None,
    }


def shaping_of(said: Conversion) -> Shaping:
    """What the options say of records that become a table, or come from one."""
    return Shaping(
        said.null or None,
        said.typed,
        None if said.nest is None else column_names(said.nest),
        said.flatten,
        said.separator,
        said.at,
        said.columnar,
        said.header,
        said.indent or 0,
        said.ascii,
        said.infer,
        types_of(said.types),
        said.out_delimiter,
    )
