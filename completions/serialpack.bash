# bash completion for serialpack. Made by tools/generate.py; do not edit.
# Source it, or put it into ~/.local/share/bash-completion/completions/serialpack.

# Set words and cur: what is typed up to the cursor. COMP_WORDBREAKS cuts words at : = @ too;
# what no space parts is put together again.
_serialpack_words() {
    local line=${COMP_LINE:0:COMP_POINT} word i
    words=()
    for ((i = 0; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((i)) && [[ $line != [[:space:]]* ]]; then
            words[${#words[@]} - 1]+=$word
        else
            words+=("$word")
        fi
        line=${line#*"$word"}
    done
    if ((COMP_CWORD)) && [[ $line != [[:space:]]* ]]; then
        i=$((${#words[@]} - 1))
        cur=${words[i]}$line
        unset "words[i]"
    else
        cur=${line#"${line%%[![:space:]]*}"}
    fi
}

# Add to COMPREPLY what "compgen $@" finds.
_serialpack_add() {
    local found
    while IFS= read -r found; do
        COMPREPLY+=("$found")
    done < <(compgen "$@")
}

# Files that begin with $2 ($1 is typed before it in the same word), of ending $3 if given.
_serialpack_files() {
    compopt -o filenames 2>/dev/null
    if [[ -n ${3-} ]]; then
        _serialpack_add -P "$1" -f -X "!*$3" -- "$2"
        _serialpack_add -P "$1" -d -- "$2"
    else
        _serialpack_add -P "$1" -f -- "$2"
    fi
}

# Readline replaces only what follows the last of its word breaks: take the rest of $1 off.
_serialpack_trim() {
    local n char cut=
    for ((n = ${#1}; n > 0; n--)); do
        char=${1:n-1:1}
        if [[ :=@ == *"$char"* && $COMP_WORDBREAKS == *"$char"* ]]; then
            cut=${1:0:n}
            break
        fi
    done
    for n in "${!COMPREPLY[@]}"; do
        COMPREPLY[n]=${COMPREPLY[n]#"$cut"}
    done
}

# Set kind: what the option $2 of the verb $1 takes. Fails for one that takes nothing.
_serialpack_kind() {
    case "$1 $2" in
        "pack -s" | "pack --serializer") kind=serializer ;;
        "pack --filter") kind=filter ;;
        "pack -c" | "pack --codec") kind=codec ;;
        "pack --effort") kind=effort ;;
        "pack -F" | "pack --from") kind=format ;;
        "pack --delimiter") kind= ;;
        "pack --encoding") kind= ;;
        "pack --schema") kind=path ;;
        "pack --message") kind= ;;
        "pack --block-size") kind= ;;
        "pack --meta") kind= ;;
        "pack --shared-dict") kind=path ;;
        "pack -o" | "pack --output") kind=path ;;
        "pack --sync") kind= ;;
        "pack -j" | "pack --threads") kind= ;;
        "pack --profile") kind=path ;;
        "pack --journal") kind=path ;;
        "pack --scheduler") kind= ;;
        "pack --include") kind= ;;
        "pack --exclude") kind= ;;
        "pack --files-from") kind=path ;;
        "unpack -t" | "unpack --to") kind=format ;;
        "unpack -F" | "unpack --from") kind=format ;;
        "unpack --delimiter") kind= ;;
        "unpack --encoding") kind= ;;
        "unpack --table") kind=serializer ;;
        "unpack --lossy") kind=loss ;;
        "unpack --at") kind= ;;
        "unpack --null") kind= ;;
        "unpack --nest") kind= ;;
        "unpack --types") kind= ;;
        "unpack --indent") kind= ;;
        "unpack --separator") kind= ;;
        "unpack --out-delimiter") kind= ;;
        "unpack --fields") kind= ;;
        "unpack --schema") kind=path ;;
        "unpack --message") kind= ;;
        "unpack --records") kind= ;;
        "unpack --bytes") kind= ;;
        "unpack --max-size") kind= ;;
        "unpack --shared-dict") kind=path ;;
        "unpack --key") kind= ;;
        "unpack --duplicates") kind=which ;;
        "unpack -s" | "unpack --serializer") kind=serializer ;;
        "unpack -c" | "unpack --codec") kind=codec ;;
        "unpack --get") kind= ;;
        "unpack -o" | "unpack --output") kind=path ;;
        "unpack --sync") kind= ;;
        "unpack -j" | "unpack --threads") kind= ;;
        "unpack --profile") kind=path ;;
        "unpack --journal") kind=path ;;
        "unpack --scheduler") kind= ;;
        "unpack --include") kind= ;;
        "unpack --exclude") kind= ;;
        "unpack --files-from") kind=path ;;
        "inspect --head") kind= ;;
        "inspect --max-size") kind= ;;
        "inspect --shared-dict") kind=path ;;
        "inspect -F" | "inspect --from") kind=format ;;
        "inspect --delimiter") kind= ;;
        "inspect --encoding") kind= ;;
        "inspect --include") kind= ;;
        "inspect --exclude") kind= ;;
        "inspect --files-from") kind=path ;;
        "bench -s" | "bench --serializer") kind=serializer ;;
        "bench --filter") kind=filter ;;
        "bench -c" | "bench --codec") kind=codec ;;
        "bench -F" | "bench --from") kind=format ;;
        "bench --budget") kind= ;;
        "bench --sample") kind=sample ;;
        "bench --sweep") kind= ;;
        "bench --prefer") kind=preference ;;
        "bench --line") kind= ;;
        "bench -j" | "bench --threads") kind= ;;
        "bench --store") kind=store ;;
        "bench --format") kind=report ;;
        "bench --plot") kind=path ;;
        "bench --html") kind=path ;;
        "bench --save") kind=path ;;
        "bench --compare") kind=path ;;
        "bench --include") kind= ;;
        "bench --exclude") kind= ;;
        "bench --files-from") kind=path ;;
        *) return 1 ;;
    esac
}

# Set options and ending: what the verb $1 can be given.
_serialpack_options() {
    case $1 in
        pack)
            options="-s --serializer --filter -c --codec -1 -2 -3 -4 -5 -6 -7 -8 -9 --effort -F --from --delimiter --encoding --no-header --exact --no-verify --trust --schema --message --block-size --meta --shared-dict --archive --owner -o --output -f --force -k --keep --rm --skip-existing --sync --dry-run -j --threads --stats --profile --journal --scheduler -r --recursive --include --exclude --gitignore --files-from -0 --nul --json -q --quiet -v --verbose --no-progress -h --help"
            ending=
            ;;
        unpack)
            options="-t --to -F --from --delimiter --encoding --no-header --table --lossy --strict --at --columnar --header --null --typed --nest --infer --types --indent --ascii --flatten --separator --out-delimiter --tagged --skip-bad --fields --no-verify --schema --message --test --salvage --records --bytes -N --name --max-size --shared-dict --trust --key --duplicates -s --serializer -c --codec --get -o --output -f --force -k --keep --rm --skip-existing --sync --dry-run -j --threads --stats --profile --journal --scheduler -r --recursive --include --exclude --gitignore --files-from -0 --nul --json -q --quiet -v --verbose --no-progress -h --help"
            ending=.spk
            ;;
        inspect)
            options="--stages --fidelity --blocks --columns --head --max-size --shared-dict -F --from --delimiter --encoding --no-header -r --recursive --include --exclude --gitignore --files-from -0 --nul --json -q --quiet -v --verbose --no-progress -h --help"
            ending=
            ;;
        bench)
            options="-s --serializer --filter -c --codec -F --from --budget --sample --sweep --prefer --line --peers -j --threads --store --disk --cold --cold-all --format --plot --html --save --compare -f --force -r --recursive --include --exclude --gitignore --files-from -0 --nul --json -q --quiet -v --verbose --no-progress -h --help"
            ending=
            ;;
        *) options= ending= ;;
    esac
}

# Offer values of the kind that begin with $2; $1 is typed before it in the same word.
_serialpack_value() {
    local names= levels=
    case $kind in
        path) _serialpack_files "$1" "$2"; return ;;
        serializer) names="auto raw columns json ujson simplejson rapidjson pyrapidjson orjson msgspec-json msgpack umsgpack ormsgpack msgspec-msgpack cbor bson xml java yaml toml csv tsv protobuf pickle marshal cloudpickle avro parquet arrow objects" ;;
        filter) names="shuffle bitshuffle delta xor zigzag ordered byteswap transpose scaled" ;;
        codec) names="auto none zstd zlib bz2 xz lz4 snappy brotli lzo pcodec blosc-blosclz blosc-lz4 blosc-lz4hc blosc-zlib blosc-zstd blosc-snappy" ;;
        format) names="bytes json ndjson csv tsv csv:semicolon csv:pipe msgpack yaml:1.1 yaml toml cbor bson xml typed-xml protobuf avro java pickle marshal parquet arrow npy npz nifti mrc hdf5 sqlite" ;;
        loss) names="null nan bigint digits duplicates order columns around fields fixed objects utf8 types all" ;;
        sample) names="uuid4 phonebook contacts dna protein documents target-object messages field3d field3d-fortran random" ;;
        preference) names="size speed portable text safe" ;;
        store) names="sqlite-kv lmdb tokyocabinet" ;;
        which) names="first last" ;;
        report) names="table json csv markdown" ;;
        effort) names="1 2 3 4 5 6 7 8 9" ;;
    esac
    if [[ $2 != *:* ]]; then
        _serialpack_add -P "$1" -W "$names" -- "$2"
        return
    fi
    case "$kind ${2%%:*}" in
        "serializer columns") levels="1 2 3 4 5 6 7 8 9" ;;
        "serializer cbor") levels="0 1" ;;
        "serializer pickle") levels="0 1 2 3 4 5" ;;
        "serializer marshal") levels="0 1 2 3 4" ;;
        "filter shuffle" | "filter bitshuffle" | "filter transpose") levels="1 2 4 8 16 32 64 128" ;;
        "filter delta" | "filter xor" | "filter zigzag" | "filter ordered" | "filter byteswap") levels="1 2 4 8" ;;
        "filter scaled") levels="4 8" ;;
        "codec zstd") levels="-7 -6 -5 -4 -3 -2 -1 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22" ;;
        "codec zlib" | "codec xz" | "codec blosc-blosclz" | "codec blosc-lz4" | "codec blosc-lz4hc" | "codec blosc-zlib" | "codec blosc-zstd" | "codec blosc-snappy") levels="0 1 2 3 4 5 6 7 8 9" ;;
        "codec bz2") levels="1 2 3 4 5 6 7 8 9" ;;
        "codec lz4" | "codec pcodec") levels="0 1 2 3 4 5 6 7 8 9 10 11 12" ;;
        "codec brotli") levels="0 1 2 3 4 5 6 7 8 9 10 11" ;;
    esac
    _serialpack_add -P "$1${2%%:*}:" -W "$levels" -- "${2#*:}"
}

_serialpack() {
    local words cur verb= opt= kind= ending= options= i word
    local verbs="pack unpack inspect bench --version -h --help"
    COMPREPLY=()
    _serialpack_words
    for ((i = 1; i < ${#words[@]}; i++)); do
        word=${words[i]}
        if [[ -z $verb ]]; then
            [[ $word == -* ]] || verb=$word
        elif [[ $opt == -- ]]; then
            :
        elif [[ -n $opt ]]; then
            opt=
        elif [[ $word == -- ]] || _serialpack_kind "$verb" "$word"; then
            opt=$word
        fi
    done
    if [[ -z $verb ]]; then
        _serialpack_add -W "$verbs" -- "$cur"
    elif [[ -n $opt && $opt != -- ]]; then
        _serialpack_kind "$verb" "$opt"
        _serialpack_value "" "$cur"
    elif [[ $opt != -- && $cur == --*=* ]]; then
        _serialpack_kind "$verb" "${cur%%=*}" && _serialpack_value "${cur%%=*}=" "${cur#*=}"
    elif [[ $opt != -- && $cur == -* ]]; then
        _serialpack_options "$verb"
        _serialpack_add -W "$options" -- "$cur"
    else
        _serialpack_options "$verb"
        _serialpack_files "" "$cur" "$ending"
    fi
    _serialpack_trim "$cur"
}

complete -F _serialpack serialpack
