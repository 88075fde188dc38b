"""The command line: a thin layer of words over the library.

Enter at ``main``. ``--version`` is answered before anything is imported; everything else is in
``app``. Each package below imports only those before it:

- ``options``: how a verb is declared, and what was asked for; from the declarations help, manual
  pages and completions are made
- ``reporting``: what people are told
- ``files``: the inputs and outputs of a call, done one after another or side by side
- ``verbs``: one file a verb, which calls the library

Beside them, ``signals`` answers Ctrl-C, ``guard`` tells where memory ended, ``words`` writes what
is said, ``lines`` the lines of ``--json``, and ``naming`` names outputs after inputs.
"""

import os
import sys


def main() -> None:
    """The ``serialpack`` command."""
    # Until the program can say how it ended, Ctrl-C ends it without a traceback.
    try:
        import signal

        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except KeyboardInterrupt:
        os._exit(130)
    if sys.argv[1:] == ["--version"] and sys.stdout is not None:
        from serialpack._version import __version__

        try:
            print(f"serialpack {__version__}", flush=True)
            return
        except OSError:
            pass  # said below, as every error is
    # NumPy's OpenBLAS, never called here, would start threads, and raise SIGINT where it cannot.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own keeps what each thread once had: 50 MB more for Parquet, and no faster.
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    from serialpack.cli.guard import guarded, is_limited

    code = guarded(_run) if is_limited() else _run()
    if code:
        # Python's own ending aborts when a thread still waits for a silent pipe, and tries to
        # write once more what could not be written.
        os._exit(code)
    # Python's own ending looks for garbage among all that was loaded: a sixth of a short call.
    import gc

    gc.freeze()
    sys.exit(0)


def _run() -> int:
    import gc

    # Some hundred modules come in, and stay: nothing is found by looking at them again and again.
    gc.set_threshold(50_000)
    from serialpack.cli.app import run
    from serialpack.without_pandas import leave_pandas_out

    leave_pandas_out()
    return run(sys.argv[1:])
