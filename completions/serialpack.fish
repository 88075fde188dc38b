# fish completion for serialpack. Made by tools/generate.py; do not edit.
# Put it into ~/.config/fish/completions/.

# Whether $argv[1] is the verb that is typed before the cursor; empty: none is.
function __serialpack_verb
    set -l words (commandline -opc)
    for word in $words[2..-1]
        if not string match -q -- '-*' $word
            test "$argv[1]" = "$word"
            return
        end
    end
    test -z "$argv[1]"
end

# Files that end in $argv[1], and folders on the way to them.
function __serialpack_ending
    set -l ending (string escape --style=regex -- $argv[1])
    complete -C "__serialpack_any_file "(commandline -ct) | string match -r -- "^.*(?:/|$ending)\$"
end

function __serialpack_serializer
    set -l word (commandline -ct | string replace -r -- '^(?:--[a-z-]+=|-[A-Za-z])' '')
    set -l name (string split -m 1 : -- $word)[1]
    switch $word
        case 'columns:*'
            printf "$name:%s\n" 1 2 3 4 5 6 7 8 9
            return
        case 'cbor:*'
            printf "$name:%s\n" 0 1
            return
        case 'pickle:*'
            printf "$name:%s\n" 0 1 2 3 4 5
            return
        case 'marshal:*'
            printf "$name:%s\n" 0 1 2 3 4
            return
    end
    printf '%s\t%s\n' \
        'auto' 'let serialpack choose (default)' \
        'raw' 'the bytes as they are' \
        'columns' 'records as typed columns, byte for byte' \
        'json' 'JSON lines, by the standard library' \
        'ujson' 'JSON lines, by UltraJSON' \
        'simplejson' 'JSON lines, by simplejson' \
        'rapidjson' 'JSON lines, by python-rapidjson' \
        'pyrapidjson' 'JSON lines, written by pyrapidjson' \
        'orjson' 'JSON lines, by orjson' \
        'msgspec-json' 'JSON lines, by msgspec' \
        'msgpack' 'MessagePack messages, by msgpack-python' \
        'umsgpack' 'MessagePack messages, by u-msgpack-python' \
        'ormsgpack' 'MessagePack messages, by ormsgpack' \
        'msgspec-msgpack' 'MessagePack messages, by msgspec' \
        'cbor' 'CBOR items with their tags, by cbor2' \
        'bson' 'BSON documents, by PyMongo\'s bson' \
        'xml' 'typed XML, an element for each record' \
        'java' 'Java serialization streams, read by javaobj-py3, never written' \
        'yaml' 'YAML documents, by PyYAML' \
        'toml' 'TOML documents, by tomli-w' \
        'csv' 'comma-separated values, by the standard library' \
        'tsv' 'tab-separated values, by the standard library' \
        'protobuf' 'Protocol Buffers, with your schema or as google.protobuf.Value' \
        'pickle' 'Python pickles: objects of any class; unpacked with --trust only' \
        'marshal' 'Python\'s marshal data, for one Python version; unpacked with --trust only' \
        'cloudpickle' 'Python pickles, by value where pickle refuses; unpacked with --trust only' \
        'avro' 'Avro container files, with your schema or one made for the records' \
        'parquet' 'Parquet tables, by pyarrow' \
        'arrow' 'Arrow tables (IPC files), by pyarrow' \
        'objects' 'Python objects of plain values and arrays, as MessagePack with extensions; safe to read'
end

function __serialpack_filter
    set -l word (commandline -ct | string replace -r -- '^(?:--[a-z-]+=|-[A-Za-z])' '')
    set -l name (string split -m 1 : -- $word)[1]
    switch $word
        case 'shuffle:*' 'bitshuffle:*' 'transpose:*'
            printf "$name:%s\n" 1 2 4 8 16 32 64 128
            return
        case 'delta:*' 'xor:*' 'zigzag:*' 'ordered:*' 'byteswap:*'
            printf "$name:%s\n" 1 2 4 8
            return
        case 'scaled:*'
            printf "$name:%s\n" 4 8
            return
    end
    printf '%s\t%s\n' \
        'shuffle' 'bytes of equal weight side by side; for numbers of fixed size' \
        'bitshuffle' 'bits of equal weight side by side; for numbers that use few of their bits' \
        'delta' 'differences of integers, also of those rows apart; for counters, images, fields' \
        'xor' 'bits that differ from the item before; for floats that hardly change' \
        'zigzag' 'small signed integers as small unsigned ones; behind delta' \
        'ordered' 'floats as integers in the same order, whose differences are small; before delta' \
        'byteswap' 'big-endian numbers as little-endian ones; before filters that count with them' \
        'transpose' 'the columns of a matrix one after another; for tables of numbers, channels' \
        'scaled' 'floats that are multiples, such as prices and shades, as integers; before delta'
end

function __serialpack_codec
    set -l word (commandline -ct | string replace -r -- '^(?:--[a-z-]+=|-[A-Za-z])' '')
    set -l name (string split -m 1 : -- $word)[1]
    switch $word
        case 'zstd:*'
            printf "$name:%s\n" -7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
            return
        case 'zlib:*' 'xz:*' 'blosc-blosclz:*' 'blosc-lz4:*' 'blosc-lz4hc:*' 'blosc-zlib:*' 'blosc-zstd:*' 'blosc-snappy:*'
            printf "$name:%s\n" 0 1 2 3 4 5 6 7 8 9
            return
        case 'bz2:*'
            printf "$name:%s\n" 1 2 3 4 5 6 7 8 9
            return
        case 'lz4:*' 'pcodec:*'
            printf "$name:%s\n" 0 1 2 3 4 5 6 7 8 9 10 11 12
            return
        case 'brotli:*'
            printf "$name:%s\n" 0 1 2 3 4 5 6 7 8 9 10 11
            return
    end
    printf '%s\t%s\n' \
        'auto' 'let serialpack choose (default)' \
        'none' 'stored as it is' \
        'zstd' 'fast and small; any zstd tool reads it' \
        'zlib' 'DEFLATE; read everywhere' \
        'bz2' 'block sorting; slow, good on text' \
        'xz' 'LZMA2; very slow, smallest' \
        'lz4' 'very fast; 0 is the fast compressor, 1-12 are LZ4 HC' \
        'snappy' 'very fast, no levels' \
        'brotli' 'good on text; 11 is very slow' \
        'lzo' 'fast to decode, no levels' \
        'pcodec' 'numbers of one type; floats and integers that no text compressor shrinks' \
        'blosc-blosclz' 'blocked, with byte or bit shuffle built in' \
        'blosc-lz4' 'blocked, with byte or bit shuffle built in' \
        'blosc-lz4hc' 'blocked, with byte or bit shuffle built in' \
        'blosc-zlib' 'blocked, with byte or bit shuffle built in' \
        'blosc-zstd' 'blocked, with byte or bit shuffle built in' \
        'blosc-snappy' 'blocked, with byte or bit shuffle built in'
end

function __serialpack_format
    printf '%s\t%s\n' \
        'bytes' 'any bytes' \
        'json' 'a JSON document' \
        'ndjson' 'a JSON value on each line' \
        'csv' 'comma-separated values with a header line' \
        'tsv' 'tab-separated values with a header line' \
        'csv:semicolon' 'semicolon-separated values with a header line' \
        'csv:pipe' 'values between vertical bars with a header line' \
        'msgpack' 'MessagePack messages, one after another' \
        'yaml:1.1' 'YAML documents, by YAML 1.1' \
        'yaml' 'YAML documents, by YAML 1.2' \
        'toml' 'a TOML document' \
        'cbor' 'CBOR items, one after another' \
        'bson' 'BSON documents, one after another, as mongodump writes them' \
        'xml' 'XML, an element for each key' \
        'typed-xml' 'typed XML, in which each element says the type of its value' \
        'protobuf' 'Protocol Buffers, messages behind their lengths' \
        'avro' 'Avro object container files' \
        'java' 'Java serialization streams; read, never written' \
        'pickle' 'Python pickles, one after another; reading one can run code that is in it' \
        'marshal' 'Python\'s marshal data, one object after another; reading it can crash Python' \
        'parquet' 'Parquet, a table as columns' \
        'arrow' 'Arrow IPC (Feather), a table as columns' \
        'npy' 'a NumPy array' \
        'npz' 'NumPy arrays by name, in a zip' \
        'nifti' 'a NIfTI image' \
        'mrc' 'an MRC map' \
        'hdf5' 'HDF5 datasets by name' \
        'sqlite' 'SQLite databases, a table of them'
end

function __serialpack_loss
    printf '%s\t%s\n' \
        'null' 'null is an empty cell, beside numbers of an array NaN, in TOML a key that is left out' \
        'nan' 'NaN and infinities become null, a NaN with bits of its own where the target has NaN that; where JSON has them, they are read' \
        'bigint' 'integers that the target cannot hold become decimal text' \
        'digits' 'numbers become the nearest double (beyond all: an infinity), an integer -0 loses its sign, times are cut to microseconds' \
        'duplicates' 'the last of equal keys wins' \
        'order' 'text and elements of XML that alternate are put together' \
        'columns' 'of a table of text without rows, the names of columns are dropped' \
        'around' 'what is around records of --at, above a table, or no array is left out' \
        'fields' 'a field of --fields that no record has is left out' \
        'fixed' 'floats of an array become the nearest multiples of STEP (fixed:STEP): off by half of it at most, else left as they are' \
        'objects' 'objects of a class become maps of their attributes, those of a subclass of a plain type that type, a member of an enumeration its value, a path text; those of Java maps of their fields' \
        'utf8' 'invalid UTF-8 and lone surrogates become U+FFFD' \
        'types' 'numbers, booleans and null become the text that JSON has for them' \
        'all' 'all of them'
end

function __serialpack_sample
    printf '%s\t%s\n' \
        'uuid4' 'one map of UUID4 keys, as text, to integers from 0 to 7' \
        'phonebook' 'invented phone-book entries of about 2.5 kB: ids, addresses, prose, tags, friends' \
        'contacts' 'flat records of about 400 bytes: ids, names, numbers, dates, little prose' \
        'dna' 'records of 1000 letters each, drawn from 4 nucleotides' \
        'protein' 'records of 1000 letters each, drawn from 20 amino acids' \
        'documents' 'records with fields f0 to f7: integers, floats, short texts, a boolean' \
        'target-object' 'one object with an array of integers, all 0, and one of texts, all "Dummy text"' \
        'messages' 'a message as a scheduler sends it: a small header and a payload of random bytes' \
        'field3d' 'a cube of float32, smooth with noise, in C order (.npy)' \
        'field3d-fortran' 'a cube of float32, smooth with noise, in Fortran order (.npy)' \
        'random' 'random bytes'
end

function __serialpack_preference
    printf '%s\t%s\n' \
        'size' '' \
        'speed' '' \
        'portable' '' \
        'text' '' \
        'safe' ''
end

function __serialpack_store
    printf '%s\t%s\n' \
        'sqlite-kv' 'the embedded default; needs nothing installed' \
        'lmdb' 'the fastest to read, by several processes at a time' \
        'tokyocabinet' 'a hash table or a B+ tree, on disk or in memory; through its C library'
end

function __serialpack_which
    printf '%s\t%s\n' \
        'first' '' \
        'last' ''
end

function __serialpack_report
    printf '%s\t%s\n' \
        'table' '' \
        'json' '' \
        'csv' '' \
        'markdown' ''
end

function __serialpack_effort
    printf '%s\t%s\n' \
        '1' 'zstd level 1, blocks of 4M, fastest' \
        '2' 'zstd level 2, blocks of 4M' \
        '3' 'zstd level 3, blocks of 4M, default' \
        '4' 'zstd level 5, blocks of 4M' \
        '5' 'zstd level 8, blocks of 8M' \
        '6' 'zstd level 12, blocks of 8M' \
        '7' 'zstd level 15, blocks of 16M' \
        '8' 'zstd level 19, blocks of 16M' \
        '9' 'zstd level 22, blocks of 16M, smallest'
end

complete -c serialpack -f
complete -c serialpack -n '__serialpack_verb' -l version -d 'Show the version and exit'
complete -c serialpack -n '__serialpack_verb' -s h -l help -d 'Show this message and exit'
complete -c serialpack -n '__serialpack_verb' -a pack -d 'Pack each FILE into FILE.spk; no FILE or -: standard input to standard output'
complete -c serialpack -n '__serialpack_verb' -a unpack -d 'Unpack each FILE.spk to FILE, or convert any FILE with --to; no FILE: a pipe'
complete -c serialpack -n '__serialpack_verb' -a inspect -d 'Tell what is in each FILE, of any kind, without unpacking it; no FILE: a pipe'
complete -c serialpack -n '__serialpack_verb' -a bench -d 'Measure which serializer and codec suit FILE; print the command to copy'

complete -c serialpack -n '__serialpack_verb pack' -F
complete -c serialpack -n '__serialpack_verb pack' -s s -l serializer -x -k -a '(__serialpack_serializer)' -d 'auto (default), raw, json, cbor, yaml, pickle, ...'
complete -c serialpack -n '__serialpack_verb pack' -l filter -x -k -a '(__serialpack_filter)' -d 'shuffle, bitshuffle, delta; repeatable'
complete -c serialpack -n '__serialpack_verb pack' -s c -l codec -x -k -a '(__serialpack_codec)' -d 'auto (default), none, zstd:19, xz; LEVEL: by effort'
complete -c serialpack -n '__serialpack_verb pack' -s 1 -d 'effort 1'
complete -c serialpack -n '__serialpack_verb pack' -s 2 -d 'effort 2'
complete -c serialpack -n '__serialpack_verb pack' -s 3 -d 'effort 3'
complete -c serialpack -n '__serialpack_verb pack' -s 4 -d 'effort 4'
complete -c serialpack -n '__serialpack_verb pack' -s 5 -d 'effort 5'
complete -c serialpack -n '__serialpack_verb pack' -s 6 -d 'effort 6'
complete -c serialpack -n '__serialpack_verb pack' -s 7 -d 'effort 7'
complete -c serialpack -n '__serialpack_verb pack' -s 8 -d 'effort 8'
complete -c serialpack -n '__serialpack_verb pack' -s 9 -d 'effort 9'
complete -c serialpack -n '__serialpack_verb pack' -l effort -x -k -a '(__serialpack_effort)' -d 'Levels, blocks: -1 fastest, -9 smallest; default -3'
complete -c serialpack -n '__serialpack_verb pack' -s F -l from -x -k -a '(__serialpack_format)' -d 'Format of FILE; default: by name and content'
complete -c serialpack -n '__serialpack_verb pack' -l delimiter -x -d 'Between fields of CSV: , ; | or tab'
complete -c serialpack -n '__serialpack_verb pack' -l encoding -x -d 'Of CSV that is not UTF-8: cp1252, ...'
complete -c serialpack -n '__serialpack_verb pack' -l no-header -d 'Of CSV: its first line is a record'
complete -c serialpack -n '__serialpack_verb pack' -l exact -d 'Refuse where only the values would come back'
complete -c serialpack -n '__serialpack_verb pack' -l no-verify -d 'Skip the proof that it can be undone'
complete -c serialpack -n '__serialpack_verb pack' -l trust -d 'Read a pickle, which runs code that is in it'
complete -c serialpack -n '__serialpack_verb pack' -l schema -r -F -d 'For protobuf (.proto) and avro (.avsc)'
complete -c serialpack -n '__serialpack_verb pack' -l message -x -d 'The message of a protobuf schema'
complete -c serialpack -n '__serialpack_verb pack' -l block-size -x -d '64K, 1M, ...: up to 64M'
complete -c serialpack -n '__serialpack_verb pack' -l meta -x -d 'Your own words in the header; repeatable'
complete -c serialpack -n '__serialpack_verb pack' -l shared-dict -r -F -d 'A dictionary for small files of a kind; trained if not there'
complete -c serialpack -n '__serialpack_verb pack' -l archive -d 'All inputs into one container, which -o names'
complete -c serialpack -n '__serialpack_verb pack' -l owner -d 'With --archive: keep numbers of user and group'
complete -c serialpack -n '__serialpack_verb pack' -s o -l output -r -F -d 'Write to a file, a folder, or - for standard output'
complete -c serialpack -n '__serialpack_verb pack' -s f -l force -d 'Overwrite; write binary to a terminal'
complete -c serialpack -n '__serialpack_verb pack' -s k -l keep -d 'Keep the input (default), or remove it when safe'
complete -c serialpack -n '__serialpack_verb pack' -l rm -d 'Keep the input (default), or remove it when safe'
complete -c serialpack -n '__serialpack_verb pack' -l skip-existing -d 'Skip FILE if its output is whole and has its time'
complete -c serialpack -n '__serialpack_verb pack' -l sync -x -d 'Bring files to disk by group (default) or each'
complete -c serialpack -n '__serialpack_verb pack' -l dry-run -d 'Say what would be done, and do nothing'
complete -c serialpack -n '__serialpack_verb pack' -s j -l threads -x -d 'Worker threads; default: all cores'
complete -c serialpack -n '__serialpack_verb pack' -l stats -d 'Show seconds and bytes of each stage'
complete -c serialpack -n '__serialpack_verb pack' -l profile -r -F -d 'Draw where the time goes, as a page of HTML'
complete -c serialpack -n '__serialpack_verb pack' -l journal -r -F -d 'Keep the lines of --json in a file'
complete -c serialpack -n '__serialpack_verb pack' -l scheduler -x -d 'Work on a Dask cluster; local: start one here'
complete -c serialpack -n '__serialpack_verb pack' -s r -l recursive -d 'Take the files in folders, all the way'
complete -c serialpack -n '__serialpack_verb pack' -l include -x -d 'In folders and archives: only what GLOB means'
complete -c serialpack -n '__serialpack_verb pack' -l exclude -x -d 'In folders and archives: not what GLOB means'
complete -c serialpack -n '__serialpack_verb pack' -l gitignore -d 'With -r: leave out what .gitignore files name'
complete -c serialpack -n '__serialpack_verb pack' -l files-from -r -F -d 'Read names of inputs, a line each (- too)'
complete -c serialpack -n '__serialpack_verb pack' -s 0 -l nul -d 'With --files-from: NUL ends each name'
complete -c serialpack -n '__serialpack_verb pack' -l json -d 'One JSON line a file, for scripts'
complete -c serialpack -n '__serialpack_verb pack' -s q -l quiet -d 'Print errors only'
complete -c serialpack -n '__serialpack_verb pack' -s v -l verbose -d 'Print what was chosen, and why'
complete -c serialpack -n '__serialpack_verb pack' -l no-progress -d 'Draw no progress bar'
complete -c serialpack -n '__serialpack_verb pack' -s h -l help -d 'Show this message and exit'

complete -c serialpack -n '__serialpack_verb unpack' -a '(__serialpack_ending .spk)'
complete -c serialpack -n '__serialpack_verb unpack' -s t -l to -x -k -a '(__serialpack_format)' -d 'Write FORMAT instead; see below'
complete -c serialpack -n '__serialpack_verb unpack' -s F -l from -x -k -a '(__serialpack_format)' -d 'Format of FILE; default: by name and content'
complete -c serialpack -n '__serialpack_verb unpack' -l delimiter -x -d 'With --to: between fields of CSV; , ; | or tab'
complete -c serialpack -n '__serialpack_verb unpack' -l encoding -x -d 'With --to: of text that is not UTF-8'
complete -c serialpack -n '__serialpack_verb unpack' -l no-header -d 'With --to: of CSV; columns are column1, ...'
complete -c serialpack -n '__serialpack_verb unpack' -l table -x -k -a '(__serialpack_serializer)' -d 'With --to: of a database; default: FILE\'s, or one'
complete -c serialpack -n '__serialpack_verb unpack' -l lossy -x -k -a '(__serialpack_loss)' -d 'Allow a loss: digits, ..., or all'
complete -c serialpack -n '__serialpack_verb unpack' -l strict -d 'Refuse what needs another type or shape'
complete -c serialpack -n '__serialpack_verb unpack' -l at -x -d 'Take the records from the value named A.B'
complete -c serialpack -n '__serialpack_verb unpack' -l columnar -d 'Read a map of lists as columns, records across'
complete -c serialpack -n '__serialpack_verb unpack' -l header -d 'Take the first of several lists for names'
complete -c serialpack -n '__serialpack_verb unpack' -l null -x -d 'The word for null in cells; empty is missing then'
complete -c serialpack -n '__serialpack_verb unpack' -l typed -d 'Read bare cells as values, quoted ones as text'
complete -c serialpack -n '__serialpack_verb unpack' -l nest -x -d 'Read columns a.b as maps, column NAME as JSON'
complete -c serialpack -n '__serialpack_verb unpack' -l infer -d 'Give columns of text the type of all their cells'
complete -c serialpack -n '__serialpack_verb unpack' -l types -x -d 'Give columns a type: integer, number, date, ...'
complete -c serialpack -n '__serialpack_verb unpack' -l indent -x -d 'Spaces for each level'
complete -c serialpack -n '__serialpack_verb unpack' -l ascii -d 'Escape what is not ASCII, in JSON and NDJSON'
complete -c serialpack -n '__serialpack_verb unpack' -l flatten -d 'Write maps as columns a.b in Parquet and Arrow'
complete -c serialpack -n '__serialpack_verb unpack' -l separator -x -d 'Between a and b in columns a.b; default: a dot'
complete -c serialpack -n '__serialpack_verb unpack' -l out-delimiter -x -d 'Between fields of CSV that is written: , ; |'
complete -c serialpack -n '__serialpack_verb unpack' -l tagged -d 'Write, and read, JSON that says every type'
complete -c serialpack -n '__serialpack_verb unpack' -l skip-bad -d 'Leave out bad records, and say which'
complete -c serialpack -n '__serialpack_verb unpack' -l fields -x -d 'Only those fields; without --to, in its format'
complete -c serialpack -n '__serialpack_verb unpack' -l no-verify -d 'With --to: skip the proof'
complete -c serialpack -n '__serialpack_verb unpack' -l schema -r -F -d 'For protobuf (.proto) and avro (.avsc)'
complete -c serialpack -n '__serialpack_verb unpack' -l message -x -d 'The message of a protobuf schema'
complete -c serialpack -n '__serialpack_verb unpack' -l test -d 'Check every byte, write nothing'
complete -c serialpack -n '__serialpack_verb unpack' -l salvage -d 'Write what is left of a damaged FILE'
complete -c serialpack -n '__serialpack_verb unpack' -l records -x -d 'Only those records; reads only their blocks'
complete -c serialpack -n '__serialpack_verb unpack' -l bytes -x -d 'Only those bytes; reads only their blocks'
complete -c serialpack -n '__serialpack_verb unpack' -s N -l name -d 'Name the output as the packed file was named'
complete -c serialpack -n '__serialpack_verb unpack' -l max-size -x -d 'Refuse to write more'
complete -c serialpack -n '__serialpack_verb unpack' -l shared-dict -r -F -d 'The dictionary that FILE was packed with'
complete -c serialpack -n '__serialpack_verb unpack' -l trust -d 'Undo pickle too, which runs code that is in FILE'
complete -c serialpack -n '__serialpack_verb unpack' -l key -x -d 'With -o STORE: key; default: the record\'s number'
complete -c serialpack -n '__serialpack_verb unpack' -l duplicates -x -k -a '(__serialpack_which)' -d 'With -o STORE: keep first or last'
complete -c serialpack -n '__serialpack_verb unpack' -s s -l serializer -x -k -a '(__serialpack_serializer)' -d 'With -o STORE: of its values'
complete -c serialpack -n '__serialpack_verb unpack' -s c -l codec -x -k -a '(__serialpack_codec)' -d 'With -o STORE: of its values'
complete -c serialpack -n '__serialpack_verb unpack' -l get -x -d 'Of a STORE: the value of KEY, as JSON'
complete -c serialpack -n '__serialpack_verb unpack' -s o -l output -r -F -d 'Write to a file, a folder, or - for standard output'
complete -c serialpack -n '__serialpack_verb unpack' -s f -l force -d 'Overwrite; write binary to a terminal'
complete -c serialpack -n '__serialpack_verb unpack' -s k -l keep -d 'Keep the input (default), or remove it when safe'
complete -c serialpack -n '__serialpack_verb unpack' -l rm -d 'Keep the input (default), or remove it when safe'
complete -c serialpack -n '__serialpack_verb unpack' -l skip-existing -d 'Skip FILE if its output is whole and has its time'
complete -c serialpack -n '__serialpack_verb unpack' -l sync -x -d 'Bring files to disk by group (default) or each'
complete -c serialpack -n '__serialpack_verb unpack' -l dry-run -d 'Say what would be done, and do nothing'
complete -c serialpack -n '__serialpack_verb unpack' -s j -l threads -x -d 'Worker threads; default: all cores'
complete -c serialpack -n '__serialpack_verb unpack' -l stats -d 'Show seconds and bytes of each stage'
complete -c serialpack -n '__serialpack_verb unpack' -l profile -r -F -d 'Draw where the time goes, as a page of HTML'
complete -c serialpack -n '__serialpack_verb unpack' -l journal -r -F -d 'Keep the lines of --json in a file'
complete -c serialpack -n '__serialpack_verb unpack' -l scheduler -x -d 'Work on a Dask cluster; local: start one here'
complete -c serialpack -n '__serialpack_verb unpack' -s r -l recursive -d 'Take the files in folders, all the way'
complete -c serialpack -n '__serialpack_verb unpack' -l include -x -d 'In folders and archives: only what GLOB means'
complete -c serialpack -n '__serialpack_verb unpack' -l exclude -x -d 'In folders and archives: not what GLOB means'
complete -c serialpack -n '__serialpack_verb unpack' -l gitignore -d 'With -r: leave out what .gitignore files name'
complete -c serialpack -n '__serialpack_verb unpack' -l files-from -r -F -d 'Read names of inputs, a line each (- too)'
complete -c serialpack -n '__serialpack_verb unpack' -s 0 -l nul -d 'With --files-from: NUL ends each name'
complete -c serialpack -n '__serialpack_verb unpack' -l json -d 'One JSON line a file, for scripts'
complete -c serialpack -n '__serialpack_verb unpack' -s q -l quiet -d 'Print errors only'
complete -c serialpack -n '__serialpack_verb unpack' -s v -l verbose -d 'Print what was chosen, and why'
complete -c serialpack -n '__serialpack_verb unpack' -l no-progress -d 'Draw no progress bar'
complete -c serialpack -n '__serialpack_verb unpack' -s h -l help -d 'Show this message and exit'

complete -c serialpack -n '__serialpack_verb inspect' -F
complete -c serialpack -n '__serialpack_verb inspect' -l stages -d 'List serializers, filters and codecs'
complete -c serialpack -n '__serialpack_verb inspect' -l fidelity -d 'With --stages: which values each holds'
complete -c serialpack -n '__serialpack_verb inspect' -l blocks -d 'A line for each block'
complete -c serialpack -n '__serialpack_verb inspect' -l columns -d 'A line for each column: where the bytes are'
complete -c serialpack -n '__serialpack_verb inspect' -l head -x -d 'The first N records'
complete -c serialpack -n '__serialpack_verb inspect' -l max-size -x -d 'With --head: refuse to write more'
complete -c serialpack -n '__serialpack_verb inspect' -l shared-dict -r -F -d 'The dictionary that FILE was packed with'
complete -c serialpack -n '__serialpack_verb inspect' -s F -l from -x -k -a '(__serialpack_format)' -d 'Format of FILE; default: by name and content'
complete -c serialpack -n '__serialpack_verb inspect' -l delimiter -x -d 'Between fields of CSV: , ; | or tab'
complete -c serialpack -n '__serialpack_verb inspect' -l encoding -x -d 'Of text that is not UTF-8: cp1252, ...'
complete -c serialpack -n '__serialpack_verb inspect' -l no-header -d 'Of CSV: its first line is a record'
complete -c serialpack -n '__serialpack_verb inspect' -s r -l recursive -d 'Take the files in folders, all the way'
complete -c serialpack -n '__serialpack_verb inspect' -l include -x -d 'In folders and archives: only what GLOB means'
complete -c serialpack -n '__serialpack_verb inspect' -l exclude -x -d 'In folders and archives: not what GLOB means'
complete -c serialpack -n '__serialpack_verb inspect' -l gitignore -d 'With -r: leave out what .gitignore files name'
complete -c serialpack -n '__serialpack_verb inspect' -l files-from -r -F -d 'Read names of inputs, a line each (- too)'
complete -c serialpack -n '__serialpack_verb inspect' -s 0 -l nul -d 'With --files-from: NUL ends each name'
complete -c serialpack -n '__serialpack_verb inspect' -l json -d 'One JSON line a file, for scripts'
complete -c serialpack -n '__serialpack_verb inspect' -s q -l quiet -d 'Print errors only'
complete -c serialpack -n '__serialpack_verb inspect' -s v -l verbose -d 'Print what was chosen, and why'
complete -c serialpack -n '__serialpack_verb inspect' -l no-progress -d 'Draw no progress bar'
complete -c serialpack -n '__serialpack_verb inspect' -s h -l help -d 'Show this message and exit'

complete -c serialpack -n '__serialpack_verb bench' -F
complete -c serialpack -n '__serialpack_verb bench' -s s -l serializer -x -k -a '(__serialpack_serializer)' -d 'Only these; default: all that can hold FILE'
complete -c serialpack -n '__serialpack_verb bench' -l filter -x -k -a '(__serialpack_filter)' -d 'Only these; default: those that help'
complete -c serialpack -n '__serialpack_verb bench' -s c -l codec -x -k -a '(__serialpack_codec)' -d 'Only these; default: those worth trying'
complete -c serialpack -n '__serialpack_verb bench' -s F -l from -x -k -a '(__serialpack_format)' -d 'Format of FILE; default: by name and content'
complete -c serialpack -n '__serialpack_verb bench' -l budget -x -d 'How long to measure; default: 20'
complete -c serialpack -n '__serialpack_verb bench' -l sample -x -k -a '(__serialpack_sample)' -d 'Built-in data in place of FILE: contacts:60000'
complete -c serialpack -n '__serialpack_verb bench' -l sweep -x -d 'Measure for several numbers of records'
complete -c serialpack -n '__serialpack_verb bench' -l prefer -x -k -a '(__serialpack_preference)' -d 'Recommend by size, speed, portable, text, safe'
complete -c serialpack -n '__serialpack_verb bench' -l line -x -d 'Balance for a line of SPEED bytes/s; default: 10M'
complete -c serialpack -n '__serialpack_verb bench' -l peers -d 'Measure the stock gzip, zstd, xz, lz4 too'
complete -c serialpack -n '__serialpack_verb bench' -s j -l threads -x -d 'Threads to measure; default: all'
complete -c serialpack -n '__serialpack_verb bench' -l store -x -k -a '(__serialpack_store)' -d 'Measure single values in a store: lmdb, ...'
complete -c serialpack -n '__serialpack_verb bench' -l disk -d 'Measure through files, not in memory'
complete -c serialpack -n '__serialpack_verb bench' -l cold -d 'As --disk, dropped from the cache before reads'
complete -c serialpack -n '__serialpack_verb bench' -l cold-all -d 'The same with all of the cache, as root'
complete -c serialpack -n '__serialpack_verb bench' -l format -x -k -a '(__serialpack_report)' -d 'Print a table (default), json, csv, markdown'
complete -c serialpack -n '__serialpack_verb bench' -l plot -r -F -d 'Draw size against speed: .png or .svg'
complete -c serialpack -n '__serialpack_verb bench' -l html -r -F -d 'Write a page to look at in a browser'
complete -c serialpack -n '__serialpack_verb bench' -l save -r -F -d 'Keep the results, for --compare'
complete -c serialpack -n '__serialpack_verb bench' -l compare -r -F -d 'Show what changed since these results'
complete -c serialpack -n '__serialpack_verb bench' -s f -l force -d 'Overwrite'
complete -c serialpack -n '__serialpack_verb bench' -s r -l recursive -d 'Take the files in folders, all the way'
complete -c serialpack -n '__serialpack_verb bench' -l include -x -d 'In folders and archives: only what GLOB means'
complete -c serialpack -n '__serialpack_verb bench' -l exclude -x -d 'In folders and archives: not what GLOB means'
complete -c serialpack -n '__serialpack_verb bench' -l gitignore -d 'With -r: leave out what .gitignore files name'
complete -c serialpack -n '__serialpack_verb bench' -l files-from -r -F -d 'Read names of inputs, a line each (- too)'
complete -c serialpack -n '__serialpack_verb bench' -s 0 -l nul -d 'With --files-from: NUL ends each name'
complete -c serialpack -n '__serialpack_verb bench' -l json -d 'One JSON line a file, for scripts'
complete -c serialpack -n '__serialpack_verb bench' -s q -l quiet -d 'Print errors only'
complete -c serialpack -n '__serialpack_verb bench' -s v -l verbose -d 'Print what was chosen, and why'
complete -c serialpack -n '__serialpack_verb bench' -l no-progress -d 'Draw no progress bar'
complete -c serialpack -n '__serialpack_verb bench' -s h -l help -d 'Show this message and exit'
