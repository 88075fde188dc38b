"""What all workers of a member must know to pack or unpack its blocks: the plan."""

from typing import TYPE_CHECKING, NamedTuple

from serialpack.codecs import CODECS
from serialpack.container.header import Header
from serialpack.errors import DamagedError, newer
from serialpack.formats import FORMATS
from serialpack.formats.base import SourceBlock, Style
from serialpack.pipeline.writing import keeps, needs_values
from serialpack.serializers import SERIALIZERS
from serialpack.stages.chain import Chain, chain_of_numbers

if TYPE_CHECKING:
    from serialpack.dictionaries import Dictionary

#: The key of a header's style under which the serializer's settings stand.
SETTINGS = "z"


class Plan(NamedTuple):
    """How the blocks of one member are packed or unpacked. It is small, and can be sent to a
    process.

    ``verify``: prove each block; ``demand_exact``: refuse a block whose very bytes would not come
    back (``--exact``).
    """

    chain: Chain
    format: str
    style: Style
    verify: bool = True
    demand_exact: bool = False
    #: The share that the codec must save of a block, or it is stored: see ``auto.choice.Choice``.
    min_saving: float = 0.0
    #: The version that wrote the member, where it is read.
    writer: str = ""
    #: Whether the codec is told that it gets text of records: see ``of_records``.
    records: bool = False
    #: The dictionary that the codec works with.
    dictionary: "Dictionary | None" = None


def of_records(chain: Chain, format: str, first: SourceBlock) -> bool:
    """Whether the codec of ``chain`` should be told that it gets the text of records, for which
    some codecs have better settings (``Codec.for_records``).

    It is decided once, by the ``first`` block: so the bytes that are written do not depend on which
    worker gets which block.
    """
    kept = keeps(SERIALIZERS.cls(chain.serializer.name), FORMATS.get(format))
    declared = FORMATS.declaration(format)
    alike = declared.is_text and declared.columns
    if not (alike and kept) or chain.filters:
        return False
    return CODECS.create(*chain.codec).gains_on_records(first.data)


def plan_of(header: Header) -> Plan:
    """The plan that the ``header`` of a member says. DamagedError where the header contradicts
    itself; UnsupportedError for a stage, format or feature that this version does not have.
    """
    chain = chain_of_numbers(header.chain, header.writer)
    if chain.zstd_envelope != header.zstd_envelope:
        raise DamagedError(f"the chain {chain} does not belong in this envelope")
    serializer = SERIALIZERS.cls(chain.serializer.name)
    try:
        fmt = FORMATS.by_number(header.format, header.style)
    except ValueError as error:
        raise DamagedError(f"the header's style is malformed ({error})") from None
    if fmt is None and not serializer.exact:
        raise newer(f"format number {header.format}, as it is there", header.writer)
    # An exact serializer gives the bytes back, also of a format that this version does not know.
    name = fmt.name if fmt is not None else "bytes"
    source = FORMATS.get(name)
    if needs_values(serializer, source) and not source.has_values:
        raise newer(f"{chain.serializer.name} to hold {name}", header.writer)
    try:
        source.check_style(header.style)
        if type(header.style.get(SETTINGS, {})) is not dict:
            raise ValueError(f"{SETTINGS!r} is no map")
    except ValueError as error:
        raise DamagedError(f"the header's style is malformed ({error})") from None
    if header.dictionary is not None and not CODECS.cls(chain.codec.name).takes_dictionary:
        raise DamagedError(f"the chain {chain} works with no dictionary")
    plan = Plan(chain, name, header.style, writer=header.writer)
    if header.dictionary is None:
        return plan
    from serialpack.dictionaries import find

    return plan._replace(dictionary=find(header.dictionary))
