"""java: Java serialization streams, by javaobj-py3; read, never written."""

from __future__ import annotations

from serialpack.serializers.of_format import FormatSerializer
from serialpack.values.kinds import KINDS


class JavaSerializer(FormatSerializer):
    """Holds nothing but a stream that Java wrote, as it is, once all of it was understood."""

    library = "javaobj"
    distribution = "javaobj-py3"
    extra = "java"
    stored_format = "java"
    cannot = frozenset(KINDS)
    portable = False
    about = "Java serialization streams, read by javaobj-py3, never written"
