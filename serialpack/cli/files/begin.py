"""What the verbs that write files begin with: their inputs, their targets, and what moves them."""

import os
from functools import partial

from serialpack.cli.files.inputs import NONE, Inputs, Takes, input_files
from serialpack.cli.files.mover import Mover
from serialpack.cli.files.outputs import Targets
from serialpack.cli.naming import STDIO
from serialpack.cli.options.requests import Outputs, PackRequest, UnpackRequest
from serialpack.cli.reporting.far import hear_of_far
from serialpack.cli.reporting.say import say
from serialpack.errors import UsageError
from serialpack.far import is_far
from serialpack.files.regular import as_found
from serialpack.files.source import shown
from serialpack.pipeline.workers import usable_cores
from serialpack.text import printable


def mover_of(
    output: str | None,
    asked: PackRequest | UnpackRequest,
    done: str,
    *,
    takes: Takes = Takes(),  # noqa: B008  (it is never changed)
    each: bool = True,
    joins: bool = False,
    into: str = "",
    volumes: bool = False,
) -> Mover:
    """What moves the inputs that were asked for.

    ``output``: where to; ``done``: what is done with them, in a word; ``takes``: which files in
    folders; ``each``: a target for each; ``joins``: which can be standard output; ``into``: or a
    file of that format; ``volumes``: a volume in two files, which nobody named, is one input.
    """
    outputs = asked.outputs
    written = [
        path if is_far(path) else os.path.realpath(path)
        for path in (outputs.output, outputs.profile, outputs.journal, asked.shared_dict)
        if path not in (None, STDIO)
    ]
    several = each and output != STDIO
    many = partial(_start_ahead, outputs) if several else None
    # What --rm would remove of a link is not what was read; what it leads to is packed by itself.
    takes = takes._replace(links=outputs.keep)
    inputs = input_files(asked.files, asked.sources, takes, written, many=many)
    if volumes and inputs.gathered:
        inputs = _whole_volumes(inputs, asked)
    hear_of_far((*inputs.paths, output), asked.manner)
    targets = Targets(inputs if each else NONE, output, joins=joins, into=into)
    if isinstance(asked, UnpackRequest) and asked.name and (targets.is_file or output == STDIO):
        raise UsageError("-N and -o both name the output", hint="-o FOLDER/ says where it goes")
    return Mover(inputs, targets, outputs, asked.manner, done)


def _whole_volumes(inputs: Inputs, asked: PackRequest | UnpackRequest) -> Inputs:
    """``inputs`` with each volume in two files once, by its header; both where both are named."""
    from serialpack.compressed.source import images_with_headers

    named = {as_found(shown(name)) for name in asked.files}
    paths = {path: None for path in inputs.paths if path not in named}
    headers = dict(images_with_headers(paths))
    for path, header in headers.items():
        words = f"{printable(path)}: the numbers of {printable(header)}, and taken with it"
        say(asked.manner, words, verbose_only=True)
    return inputs._replace(paths=[path for path in inputs.paths if path not in headers])


def _start_ahead(outputs: Outputs) -> None:
    """Start the processes that many files will be done by, while these are still being found."""
    # Of files that were done before perhaps nothing is to be done.
    if outputs.dry_run or outputs.skip_existing or outputs.scheduler is not None:
        return
    if (threads := outputs.threads or usable_cores()) > 1:
        from serialpack.cli.files.batch import start_ahead

        start_ahead(threads)
