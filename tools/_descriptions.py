"""The descriptions of the manual's pages: of the program, and of each verb.

Keys are checked: a verb that is not declared stops the generator. Words in backticks are typed as
they stand.
"""

from __future__ import annotations

#: Verb, or empty for the program's own page -> paragraphs.
DESCRIPTIONS: dict[str, tuple[str, ...]] = {
    "": (
        "`serialpack` packs data files block by block. Each block passes a chain of stages: one"
        " serializer, any number of filters, one codec. The container says how to undo them, and"
        " every byte of it is under a checksum. Its format is described in `spk(5)`.",
        "Nothing is changed silently. While packing, each block is unpacked again and compared."
        " A value that a serializer cannot hold is refused, with its place and a serializer that"
        " can.",
        "Results go to standard output; progress, notes and errors to standard error. A progress"
        " bar is drawn only on a terminal, and only once the work has taken a second.",
    ),
    "pack": (
        "Each FILE is packed into FILE.spk beside it, which gets its permissions and its time of"
        " modification; a line tells what of these the file system does not keep. An output appears"
        " whole or not at all, and overwrites nothing unless `-f` is given. Inputs are kept unless"
        " `--rm` is given.",
        "Left to themselves, the stages are chosen by looking at FILE; the very bytes come back"
        " whatever they are. From effort 3 on, records (JSON, NDJSON, CSV, TSV, MessagePack)"
        " become `columns`, each block that is smaller so than its text under zstd (by a fiftieth"
        " up to effort 3, a hundredth up to 6), but JSON whose keys are data. Columns compress"
        " themselves, and have the codec `none`. All else is `raw` under zstd at the effort's"
        " level, which any zstd tool unpacks, or at 9 under xz or bz2, where that saves a"
        " hundredth. Numbers (of arrays, of volumes, of files in which"
        " they are found by a look) pass those filters, and have that codec (zstd, pcodec, at high"
        " efforts xz), under which samples of them are smallest. A block that the codec makes"
        " smaller by less than a two-hundredth is stored, at 9 one that it makes no smaller. Of"
        " files of less than 10 kB only arrays are looked at. `-v` and `inspect` tell the reason,"
        " which the container keeps.",
        "With several inputs, each failure is named and the rest go on. More than 20 are told one"
        " by one only with `-v`, failures always, and a line at the end sums up.",
    ),
    "unpack": (
        "Each FILE.spk is unpacked to FILE beside it, which gets its permissions and its time of"
        " modification; a line tells what of these the file system does not keep. An output appears"
        " whole or not at all, and overwrites nothing unless `-f` is given. Inputs are kept unless"
        " `--rm` is given.",
        "With `--to` any FILE is converted, packed or not: to FILE with the ending of the"
        " format, beside it. Without it the name after `-o` says the format: `-o data.csv`"
        " converts; of a container of a file of that format, or of a name with that ending, it"
        " gives the very bytes, as it does to standard output and under any other name. FILE may"
        " be compressed by gzip, zstd, bzip2, xz, lzma, LZ4 or brotli (told by its name, NAME.br),"
        " and is read as what is in it; of a volume in two files, NAME.hdr and NAME.img, it may be"
        " either (of those in a folder it is taken once). A document becomes a document, a"
        " sequence of records one of records; the elements of an array are the records of a"
        " format that has nothing else, and these are an array in JSON. What is written is read"
        " back and compared. What the format cannot hold is refused with its record and path. A"
        " container of a file of that format gives the very bytes, unless they are not valid in"
        " it.",
        "What FILE is, its name and its first bytes say. Standard input, and a file of another"
        " name, is also read as CSV, TSV, YAML, TOML, MessagePack or CBOR where its content is"
        " surely that and nothing else, which is said; else the message names the `--from` to"
        " give.",
        "Several inputs become the one file that `-o` names, or standard output, which `-` is:"
        " their records in order, one after another. Rows of CSV or TSV stand below one line of"
        " all names: by name, and empty where a table has no such column, which is told. Where a"
        " format cannot be written on (`-o all.parquet`), all inputs are joined as text first, in"
        " a temporary file where that is large, and that is converted: columns have the types of"
        " all their values, by `--infer` too; numbers have no width on the way (int32 becomes"
        " int64), which is told. A file is there once all inputs are in it. Containers give their"
        " very bytes to standard output, where they are of lines or messages.",
        "The entries of an archive (`pack --archive`) go below a folder: FILE, or the one that"
        " `-o` names, and never out of it. They get their times of modification. An entry that"
        " cannot be written is named, and the rest go on. `--records`, `--bytes`, `--fields` and"
        " `--to` need one entry named (`--include PATH`), and write to the file that `-o` names, or"
        " to that of the entry below the folder.",
        "Every checksum is verified. A damaged input gives exit status 3, and no file; to"
        " standard output, the blocks before the damage may have been written.",
        "With `--salvage` what is left of a damaged or cut container is written: all blocks that"
        " are whole, also where header or index are gone, and of those only records that are"
        " whole. Records stay in their format: the array, the lines or the rows of those that are"
        " left. Other sources are the bytes that are left, one after another. Each range that is"
        " lost is named, with its bytes and records in the source where they are known, and the"
        " exit status is 3. Every entry of an archive is written of which a block is left.",
        "With several inputs, each failure is named and the rest go on. More than 20 are told one"
        " by one only with `-v`, failures always, and a line at the end sums up; what `--to`"
        " changed in them has a line for each kind, with the first of them.",
    ),
    "inspect": (
        "Of a container it shows the stages, sizes, records, what unpacking restores, checksums"
        " and metadata, read from the end of the file. Of any other file it shows the format that"
        " it seems to be, its fields and their types, its entropy, and what auto would choose."
        " Of one large object of JSON all keys are looked for, in up to 64 MiB of a file. What"
        " gzip, zstd, bzip2, xz, lzma, LZ4 or brotli compressed is looked into, packed too; the"
        " entries of a tar, of a zip and of an archive have a line each, of an archive all about"
        " each with -v, and with `--include` those that it chooses.",
        "Of an array (npy, nifti, mrc) it shows the type of the items, the lengths, the order, and"
        " the least and the greatest number as they are stored, NaN apart; these of all numbers"
        " or not at all: up to 64 MiB are read of a file or a container, 4 MiB of standard"
        " input and of what is compressed, of a far container one block, and more is"
        " said not to be looked for. The entries of an npz that are arrays have this in their"
        " lines.",
        "Of HDF5 each group, dataset and link has a line: type, lengths, chunks, filters, range (of"
        " up to 64 MiB of all numbers) and how many attributes; each of these has one too, called"
        " `DATASET@NAME`. Links out of the file are never followed. With `--head` it shows a"
        " corner of each dataset. One that is packed, compressed or in a pipe is listed up to"
        " 64 MiB.",
        "Of a container whose end is damaged or cut off it shows what is left, and where the"
        " damage is, with exit status 3; all of the file is read for that.",
        "Of a journal (`--journal` of `pack` and `unpack`) it shows the sums: by format and by"
        " chain, what was saved, the slowest files, and those that failed and were not done since.",
        "Each FILE may be `-`, standard input.",
    ),
    "bench": (
        "Every installed serializer that holds the values of FILE is measured behind the codecs"
        " that may suit, and every round trip is proved. The table shows size, speed in MB of"
        " FILE a second (packing includes the proof), peak memory, and whether the very bytes"
        " come back or the same values; `*` marks the rows that no other beats in both size and"
        " time; `(auto)` marks what `auto` would choose, and `(auto -9)` is what `pack -9` makes"
        " (where no stages are named). It ends with the command to type for each of"
        " four purposes: `smallest` has the fewest bytes, and says where `pack -9` was not"
        " measured; `fastest` takes the least time to pack and unpack; `balanced`, the one to take"
        " where no other is needed, the least in all to pack, send (`--line`) and unpack;"
        " `portable` is as balanced, of those that zstd and other languages read without"
        " serialpack.",
        "First a sample of FILE tells what is worth measuring whole, within the budget. Rows with"
        " a `~` were measured on the sample only, and are scaled up; what is recommended was"
        " measured whole wherever the budget allows. All is measured in a second process: a chain"
        " that crashes, hangs or takes all memory ends only that, and is a row that says so.",
        "Without FILE, or with `-`, standard input is kept in a temporary file. Ctrl-C prints what"
        " is known by then, with exit status 130.",
    ),
}
