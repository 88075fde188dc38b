"""What the manual says of an option beyond its help, which stands before it.

Keys are checked: a verb or an option that is not declared stops the generator. ``*`` is every verb
that has the option. Words in backticks are typed as they stand.
"""

from __future__ import annotations

#: What `-r` takes, of every verb; and what becomes of it, where files are written.
_FOLDERS = (
    "The files in each folder that is named, and in the folders in it, in the order of their names."
    " Links to files are read as the files that they lead to; links to folders are not followed."
    " A file that standard output or error lead to is left out."
)
_TREE = (
    "With `-o DIR` the tree below the named folder is kept below DIR, which is no input where it is"
    " in that folder itself. Links to files are left out with `--rm`, which removes none. Two"
    " inputs with one output are refused before anything is written; these alone, where only the"
    " names that `-N` takes are the same, or the disk takes them for one."
)

#: (verb or *, long option) -> paragraphs.
OF_OPTIONS: dict[tuple[str, str], tuple[str, ...]] = {
    ("pack", "--serializer"): (
        "What each block is turned into before it is compressed. Serializers other than raw take"
        " the formats that they can read, and give back the same values; the very bytes too where"
        " the style can be reproduced, which the closing line tells. See STAGES.",
    ),
    ("unpack", "--lossy"): (
        "A value that the format cannot hold is changed as the rule says, and nothing else is;"
        " how often, and the first one, is told. Several are joined by commas, or by naming the"
        " option again. See LOSSES.",
        "With `--to npy`, `fixed:0.01` rounds the floats of an array to multiples of 0.01, which"
        " `all` does not.",
    ),
    ("unpack", "--tagged"): (
        "What JSON has no words for is written in MongoDB's Extended JSON v2"
        ' (`{"$binary": ...}`, `$date`, `$numberDecimal`, ...), with names of our own where that'
        " has none; a key that begins with `$` gets one more. Where the input is JSON such tags are"
        " read, so that every value comes back.",
    ),
    ("unpack", "--skip-bad"): (
        "Records that cannot be read, or that the format cannot hold, are left out; how many, and"
        " where they were, is told. After a break in the syntax of a large JSON array, or of a"
        " stream of messages, what follows cannot be told apart and is left out too. Of an array in"
        " a file of its own, rows that are not whole and bytes behind it are.",
    ),
    ("unpack", "--fields"): (
        "Fields are paths of keys: `b.c` is c in b, or a key that is spelled so. Keys keep their"
        " order; what a record does not have is left out of it, and a field that none has is"
        " refused, unless `--lossy fields` says so. Without `--to` the format stays what it is."
        " Lists on the way are passed through, with null for elements that are no maps. Of a"
        " container of columns, in a file, only their columns are read and verified; values keep"
        " their spelling then, and lines of a table theirs. The key of no characters has no name"
        " here.",
    ),
    ("inspect", "--columns"): (
        "Of each column of a container its path, what its values are and how they are encoded, how"
        " many there are, their size as text, what they take, their share of the container, and"
        " what they take of their size.",
    ),
    ("unpack", "--no-verify"): (
        "What is written is not read back where it is made of what JSON has words for. What is told"
        " and what is refused is the same: other values are proved all the same, and so is the"
        " reading of JSON.",
    ),
    ("pack", "--filter"): (
        "Rearranges the bytes of each block so that they compress better; several are applied in"
        " the order given. Before a blosc codec, shuffle and bitshuffle are blosc's own. See"
        " STAGES.",
    ),
    ("pack", "--codec"): (
        "What compresses each block. Without LEVEL, at that of the effort. See STAGES.",
    ),
    ("pack", "--effort"): (
        "Sets what is left open by `-s`, `-c` and `--block-size`: the size of blocks, the level of"
        " a codec that is named without one (`-9 -c xz`; `-9 -c xz:1` keeps 1), and the effort of"
        " `columns`. Without `-c` the codec is zstd, but behind `columns`, which have none, and for"
        " numbers: see DESCRIPTION.",
    ),
    ("*", "--from"): (
        "A name of a format, or an extension of its files: `jsonl` and `.jsonl` are ndjson."
        " Without it, the extension decides, and then the first bytes. See FORMATS.",
    ),
    ("pack", "--exact"): (
        "A serializer that gives back the same values, but not the very bytes, is refused with"
        " exit status 4.",
    ),
    ("pack", "--no-verify"): (
        "Faster. Blocks are not unpacked again to compare them, and the container says so.",
    ),
    ("pack", "--block-size"): (
        "Large blocks compress better; small ones are quicker to reach by `--records` and"
        " `--bytes`. Also the memory that each thread takes grows with it: see MEMORY.",
    ),
    ("pack", "--meta"): ("`serialpack inspect` shows it.",),
    ("pack", "--shared-dict"): (
        "Small files of one kind have in common what a dictionary holds once, and are packed to a"
        " half or two thirds. Where PATH is not there, a dictionary of up to 110 KiB is trained"
        " from the inputs of less than 64 KiB, some 11 MB of them, and written to PATH; else used"
        " as it is. It is in the format of zstd's dictionaries: one made by `zstd --train` will"
        " do, and `zstd -D PATH -dc` reads what is packed with it by raw and zstd.",
        "Each file is packed both ways, and the smaller container kept: naming the dictionary"
        " takes some 27 bytes, which files of under 100 bytes mostly do not gain. With it a codec"
        " whose level is not named takes that of a higher effort (of -3 that of -6), as for the"
        " small files of --archive, whose blocks are of its size, too: what a dictionary holds low"
        " levels hardly find. Larger inputs than 64 KiB are packed without. At the end is said how"
        " many files use it, and how many bytes that saves.",
        "The container names the dictionary and its hash. `unpack` and `inspect` find it under"
        " that name beside the container or in a folder above, or in the folder of the"
        " configuration; by its hash, beside the container and in the folder of the configuration,"
        " under any name that ends in .dict; or their `--shared-dict` names it. Without it the"
        " data cannot be had: keep it with the containers.",
    ),
    ("unpack", "--shared-dict"): (
        "Where it is neither beside FILE, in a folder above, nor in the folder of the"
        " configuration. No other dictionary than the one of the hash in FILE is used.",
    ),
    ("inspect", "--shared-dict"): ("With `--head`, as for `unpack`.",),
    ("pack", "--archive"): (
        "Each input becomes an entry, under its path as it was given. A leading / is left out of"
        " it, and everything up to the last `..`, which is said. An input that cannot be read is"
        " named and left out; the others are packed, and the exit status says so. Names of"
        " one file (hard links) become files of their own, extended attributes and ACLs are not"
        " kept, links that lead out are not made again, holes in files are filled: how many there"
        " are is said at the end. `cat` joins archives.",
    ),
    ("*", "--output"): (
        "Without it, outputs stand beside their inputs; of standard input, on standard output."
        " In a folder that is there, or whose name ends in /, they have the names that they would"
        " have beside them. Of a list (`--files-from`), however many it names, it is a folder, in"
        " which each keeps the folders that it is named with, but for a leading / and everything up"
        " to the last `..`. A device or a named pipe is written to as it stands: `/dev/null`.",
    ),
    ("pack", "--force"): ("An input that is packed already is packed once more.",),
    ("*", "--keep"): (
        "An input is removed only once its output is whole on the disk, was read back from there"
        " and has its name. Extended attributes and ACLs go with it, which is said at the end. It"
        " needs a file on both sides.",
    ),
    ("*", "--skip-existing"): (
        "For a batch that is run again, also one that was killed. Compared are times of"
        " modification, not bytes: an output is left as it is, whatever options made it, where it"
        " has the very time of its source, which it is given when it is written. A container says"
        " by itself whether it is whole, which time its source had, and how many bytes; an output"
        " on a server is to be no older. So is left what another run makes meanwhile. One that is"
        " older or newer, not whole, or of a source of another size, is refused, or with `-f` made"
        " anew. An entry of an archive is left where the file that is there holds the same bytes;"
        " so is what times do not tell: a part of a source, one entry, what comes from a pipe or"
        " is left of a damaged container. What `--archive` writes is left where it has an entry of"
        " each input, of its size, time and mode, and no other. Hidden files that a killed run"
        " left beside outputs, and that no process holds, are removed, which is said; with `-f`"
        " too, and beside an archive, and by `unpack` of one, always. With `--rm` an output that"
        " is there is made again and compared, and only then its source is removed; an archive is"
        " read, held against the sources that are left, byte for byte, and these are removed, also"
        " without `--skip-existing`: it may hold others, which a killed run has removed.",
    ),
    ("*", "--sync"): (
        "Of several inputs up to 512 outputs (half of `ulimit -n`, where that is less), from up to"
        " 16 MiB of sources, are a group: written without their names, brought to disk all at once,"
        " given them, and then the folders are brought to disk. With `each` every output is brought"
        " to disk by itself. A crash, or a power cut, leaves under an output's name either what was"
        " there before, or all of it; beside it, where a file cannot be without a name, hidden"
        " files may be left: with `group`"
        " those of a group for each thread. Of the group whose names were being given, some have"
        " them and some do not; those told of are on the disk, and so are, with `--rm`, those whose"
        " source is gone. Ctrl-C and other signals that ask for the end leave no hidden file, and"
        " all of a group or nothing of it; a temporary folder (in `TMPDIR`) that a killed run left"
        " goes with the next one that needs such. Where a system cannot bring all of a file system"
        " to disk, and say whether that went well (Linux can from 5.8 on), each file of a group is"
        " brought by itself.",
    ),
    ("*", "--journal"): (
        "A line a file, as `--json` prints it, below a line for each run: the file is added to, so"
        " that one can be kept for a batch that is run every night. With `--rm` a file's line is"
        " there, and on the disk, before that is removed. Where the journal takes no more, that is"
        " said, and the files go on. `serialpack inspect` sums it up.",
    ),
    ("*", "--scheduler"): (
        "Files become tasks of a Dask cluster (dask.distributed), small ones in groups; its workers"
        " read and write them, so they need serialpack and the same names for the files: a shared"
        " file system, or URLs. With `local` a worker a core (`-j`) is started here. What comes of"
        " it, reports and exit status are those of a run without. What a killed worker had is done"
        " once more. Ctrl-C cancels. It takes `pip install 'serialpack[dask]'`.",
        "Of a file that is more than a worker's share, and 64 MiB at least, every block is a task:"
        " the command reads it through and writes what the workers, which read their blocks too,"
        " send of it: the same bytes. What `--to` reads is one task, though, where it is"
        " compressed, packed or in another encoding, and what becomes an array or a document.",
    ),
    ("*", "--stats"): (
        "A table for each file, and of several one for all. Seconds add up over threads; waiting is"
        " of who reads, who works and who writes, for each other; wall is the time that passed."
        " Files done ahead, beside others, have no wall time.",
    ),
    ("*", "--profile"): (
        "One page that needs nothing else: for each file the table of `--stats`, a timeline of its"
        " blocks over the threads that worked on them, and the seconds of all threads by stage.",
    ),
    ("*", "--json"): (
        "On standard output; a line for a file that failed has the keys source, error and exit.",
    ),
    ("unpack", "--to"): (
        "A name of a format, or an extension of its files: `jsonl` and `.jsonl` are ndjson. See"
        " FORMATS.",
    ),
    ("unpack", "--output"): (
        "The name says the format, where `--to` does not, and a compression: what it calls"
        " .gz, .zst, .xz, .bz2, .lzma or .lz4 is written so, at the level that each has by default,"
        " unless it was packed so; `--max-size` counts the bytes before.",
    ),
    ("unpack", "--columnar"): (
        "Of a map of lists by name, of one of maps with the same labels, or of one with the keys"
        " columns, data and perhaps index, as pandas writes all three. With `--at` it is the map"
        " there.",
    ),
    ("unpack", "--header"): (
        'Of `[["a", "b"], [1, 2]]`, or of such lines of NDJSON, or of the lists at `--at`: maps by'
        " those names. A shorter list lacks the last ones, a longer one is refused.",
    ),
    ("unpack", "--ascii"): (
        "Each character beyond ASCII as \\uXXXX, two of them where it takes a surrogate pair: the"
        " same values. Other formats have none of it, and say so.",
    ),
    ("unpack", "--test"): (
        "Names all that is damaged in a file, of a pipe the first place. Goes without `-o`,"
        " `--rm`, `--records` and `--bytes`.",
    ),
    ("unpack", "--salvage"): (
        "A pipe goes through a temporary file. Goes without `--to`, `--test`, `--rm`, `--records`"
        " and `--bytes`.",
    ),
    ("unpack", "--records"): (
        "Records count from 0; B itself is left out, and either end may be. They are written as"
        " their format spells a sequence of them: of a JSON array, an array.",
    ),
    ("unpack", "--bytes"): ("Bytes count from 0; B itself is left out, and either end may be.",),
    ("pack", "--recursive"): (
        f"{_FOLDERS} What is called .spk is left out, unless `-f` is given without"
        " `--skip-existing`, and counted.",
        _TREE,
    ),
    ("unpack", "--recursive"): (
        f"{_FOLDERS} Only what is called .spk is taken, with `--to` every file. What is left out is"
        " counted.",
        _TREE,
    ),
    ("inspect", "--recursive"): (_FOLDERS,),
    ("bench", "--recursive"): (f"{_FOLDERS} What is called .spk is left out, and counted.",),
    ("*", "--include"): (
        "Repeatable: what one of them means is taken. `*.json` without a / is held against names,"
        " in whatever folder; `raw/*.json` against paths below the named folder; `raw/` is all in"
        " folders of that name. `*` and `?` stand"
        " for anything but /, `**` for any folders, `[a-z]` for one character, `{a,b}` for either."
        " Files that are named themselves are always taken. Without `-r` `unpack` and `inspect`"
        " choose entries of archives, by their paths in them.",
    ),
    ("*", "--exclude"): (
        "Globs as for `--include`, and before it. A folder that one means is not entered;"
        " `tmp/` means folders only. Repeatable.",
    ),
    ("*", "--gitignore"): (
        "Nor `.git`. By git's rules, those of the folders above included, up to the root of the"
        " repository. Without it no `.gitignore` is looked at.",
    ),
    ("*", "--files-from"): (
        "Names beside those that are typed. They are bytes: nothing is quoted in the list, `-0`"
        " takes names with newlines, as `find -print0` writes them. One that is there again is"
        " taken once.",
    ),
    ("unpack", "--name"): (
        "Also for inputs that do not end in .spk. Only the base name is used, without anything"
        " that is not safe in a file's name.",
    ),
    ("unpack", "--max-size"): ("A larger one is refused with exit status 4.",),
    ("bench", "--serializer"): ("Repeatable. See STAGES.",),
    ("bench", "--filter"): ("Repeatable; each is measured alone.",),
    ("bench", "--codec"): ("Repeatable.",),
    ("bench", "--budget"): (
        "In seconds. A larger budget measures more rows on all of FILE; of a file of over 256 MiB,"
        " a part is measured, and said to be.",
    ),
    ("bench", "--sample"): ("N is how much of it. See SAMPLES.",),
    ("bench", "--sweep"): (
        "From A up to B records (or what N of a sample counts), each STEP: `100:10000:100`.",
    ),
    ("bench", "--prefer"): (
        "size and speed weigh what is balanced; portable, text and safe leave out what is not."
        " What can run code when it is unpacked is recommended only where `-s` names it.",
    ),
    ("bench", "--line"): (
        "Balanced is the least time to pack, to send over a line of that speed, and to unpack; a"
        " row that stores what another shrinks to a half is not. `100M` is a hundred million bytes"
        " a second. `--prefer size` takes 1M, `--prefer speed` 1G.",
    ),
    ("bench", "--peers"): ("Those that are installed; their speed includes reading the file.",),
    ("bench", "--threads"): ("Several are joined by commas, and each is measured: `1,2,4`.",),
    ("bench", "--disk"): (
        "From FILE to a container and from that to another file, in the system's temporary folder"
        " (`TMPDIR`), each brought to the disk.",
    ),
    ("bench", "--cold"): (
        "So every read comes from the disk. What the disk itself keeps stays, so that only a file"
        " larger than that is really cold.",
    ),
    ("bench", "--compare"): (
        "What changed beyond the noise of both. Without FILE, what was measured then is measured"
        " again.",
    ),
    ("inspect", "--stages"): ("With their versions, or what to install. Goes without FILE.",),
    ("inspect", "--blocks"): ("Its place in the file, sizes, ratio, records and flags.",),
}
