"""What manual pages say at length of memory, far files, the environment and files."""

from __future__ import annotations

#: How much memory the verbs take: what to do about it first, then each kind of work.
MEMORY = (
    "What a command takes depends on the blocks that it works on at a time, hardly on the size of a"
    " file. A block is 4 MiB of the source where no effort and no `--block-size` says otherwise,"
    " and never more than 64 MiB, whatever a container of some hundred bytes says. Each thread has"
    " a block of its own. So `-j 1`, smaller blocks and, to pack, `-s raw` take the least.",
    "Bytes: to pack with `-s raw` and `-j 1`, to unpack what was packed so, and to read the first"
    " records of any block, however many it has, take at most 3 times the size of the block and 64"
    " MB beyond what the program has at its start. What follows calls this the bound.",
    "Columns: with `-s columns`, which auto chooses for most records, the number of values counts."
    " To pack takes 60 to 130 bytes a value: some 12 times the block, and 60 times where values"
    " have a byte or two. So a block of several records ends at about 2 million values, however"
    " large `--block-size` is: with that dense CSV, TSV, JSON and NDJSON in blocks of 64 MiB keep"
    " to the bound. Blocks of 16 MiB and fewer, which hold hardly fewer values, take up to 250 MB."
    " Values in MessagePack are not counted: its blocks have 16 MiB at most, and those of short"
    " texts take 70 times their size. A single record is never cut. To unpack, columns of one value"
    " and of values of one length keep to the bound. Others take some 60 bytes a value: up to 16"
    " times the block where it has more than 2 million.",
    "Values: other serializers (`-s msgpack`, say) make an object of each value, which takes some"
    " 20 times the block, and more where values are small.",
    "Conversion: `--to` with `-j 1` takes fewer values at a time where they are small, and keeps to"
    " the bound with records of BSON, CBOR, CSV, JSON, MessagePack, NDJSON and TSV. It does not"
    " with Avro, nor with what is written as a whole. A table of another format has 100,000 columns"
    " at most, each of which takes 1 kB, and in Parquet 9 kB. Where each record has keys of its"
    " own, each cell of the table (records times columns) takes up to 90 bytes. Parquet is refused"
    " there where its notes, 1 kB of each column for each million cells, would take more than 512"
    " MiB.",
    "Large records: one of more than 1 MiB of JSON, NDJSON, MessagePack or CBOR, or of CSV with a"
    " header of that length, is taken some members at a time, eight levels down, where it is"
    " converted into one of these formats but CSV, packed by a serializer of them, or unpacked."
    " That takes 3 times its text beside the 64 MB, 5 times where other records follow, and of CSV"
    " 10 times the row and its header. Any other is held whole, and each member, a name and a small"
    " value, takes up to 550 bytes: in another format, by `cbor:1`, where an option looks at values"
    " (`--fields`, `--tagged`, `--lossy`), where a value changes and that is told, where other"
    " bytes than the source's come back, and where it is refused. A JSON object that is larger than"
    " a block is no large record: each of its members is a record.",
    "Archives: files of up to 32 MiB that are nearly copies share a block of up to 64 MiB; to pack"
    " these takes up to 400 MB, and to unpack them 200. `--block-size` keeps them apart.",
    "No container is refused for the memory that it needs. `--max-size` limits what is written."
    " Where the system refuses memory (by a limit of the shell, say), the command ends with exit"
    " status 1 and leaves nothing behind. Under such a limit it does its work in a second process,"
    " for some libraries end the one in which they get no memory.",
)

#: What is different of files that a URL names.
FAR = (
    "A URL stands wherever a FILE or PATH does: `s3://`, `gs://`, `http://`, `https://`,"
    " `sftp://`, `memory://`, `zip://A.json::https://HOST/B.zip`, and what else fsspec knows;"
    " `./s3:` begins a path. It takes `pip install 'serialpack[remote]'`, for Google Storage"
    " `[gs]`, for SFTP `[sftp]`. Credentials are found as their libraries find them: AWS_PROFILE"
    " and ~/.aws, FSSPEC_S3 and ~/.config/fsspec, USER:PASSWORD@ in a URL, for SFTP also"
    " ~/.ssh and the agent. No message and no container has a password: URLs are shown without what"
    " stands before @, signatures and tokens as `...`.",
    "An output stands beside its input, also in a bucket. By HTTP, and in archives, nothing is"
    " written: outputs of such inputs go into the current folder. `-o` names a folder where it"
    " ends in /, and with several inputs. An upload appears whole or not at all: what is begun is"
    " given up when something fails, and on Ctrl-C, which waits for the part under way. Only a"
    " killed process leaves parts in a bucket; a lifecycle rule for incomplete uploads removes"
    " them; by SFTP an output is called .serialpack-XXXXXXXX.tmp until it is whole. An archive is"
    " unpacked below local folders only; modes are not kept.",
    "`inspect`, `--records`, `--bytes` and `--fields` read both ends of a container and the blocks"
    " that they need. Who reads all is read ahead, in 24 MiB. A server that gives no parts of a"
    " file is read from the front, which is said. What passes (5xx, lines that break, silence)"
    " is tried again a few times, which `-v` tells. A file that changes meanwhile, by its"
    " ETag, time or size, is refused. `-r` takes what is below a prefix, not of HTTP."
    " `bench` measures a copy of one URL; `--journal` is a file on a disk.",
    "A server that takes a connection and says nothing for 30 s is asked once more, by HTTP and by"
    " SFTP; in S3 it has five tries of 10 s: it is given up after a minute. In Google Storage it"
    " has six of 15 s (2 minutes). Other times are settings of fsspec, in seconds:"
    ' `FSSPEC_HTTP=\'{"client_kwargs": {"timeout": 5}}\'` (also for https),'
    ' `FSSPEC_S3=\'{"config_kwargs": {"read_timeout": 5}}\'`,'
    ' `FSSPEC_SFTP=\'{"timeout": 5, "banner_timeout": 5}\'`.',
)

#: Environment variable -> what it does.
ENVIRONMENT: dict[str, str] = {
    "SERIALPACK_VERB_OPTION": (
        "The default of an option: its long name in capitals, with _ for -, after the verb, as in"
        " `SERIALPACK_PACK_CODEC=xz:6`. It goes before the configuration file; an option typed"
        " goes before both."
    ),
    "NO_COLOR": "If it is set and not empty, nothing is coloured.",
    "TERM": "If it is `dumb`, nothing is coloured.",
    "COLUMNS": "The width of tables and help.",
    "SERIALPACK_TRACEBACK": "If it is set, an internal error shows where it happened.",
}

#: File -> what it is.
FILES: dict[str, str] = {
    "~/.config/serialpack/config.toml": (
        "Defaults of options: a table for each verb, with the long names of options as keys. If"
        " XDG_CONFIG_HOME is set, it stands for ~/.config. On macOS the folder is"
        " ~/Library/Application Support/serialpack, on Windows %APPDATA%\\serialpack."
    ),
    ".serialpack-XXXXXXXX.tmp": (
        "An output while it is being written, in the folder where it will stand, if the file"
        " system has no files without a name (most of Linux have them). It is left there only by a"
        " crash, and can be removed; `--skip-existing` does."
    ),
}

CONFIG_EXAMPLE = ("[pack]", 'codec = "zstd:9"', "no-progress = true")
