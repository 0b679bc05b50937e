"""The `emavatar` command: one line per command here, each command in its own file in `commands`.

Standard output carries only what was asked for; everything else goes to standard error, an error as one line.
Exit codes: 0 done, 2 bad input or usage, 3 a model, device or package is missing, 130 interrupted. Nothing heavy is
imported before a command runs, so `--help` answers at once and needs no extra.
"""

from __future__ import annotations

import argparse
import errno
import os
import signal
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, NoReturn

from emavatar_ros import __version__
from emavatar_ros.errors import EmavatarError

COMMANDS: Final = ('demo', 'up', 'turn', 'perceive', 'deliberate', 'plan', 'say', 'avatar', 'models', 'devices',
                   'doctor', 'bench')
INTERRUPTED: Final = 130
EXTRAS: Final = {
    'onnxruntime': 'embedded', 'onnx': 'embedded', 'faster_whisper': 'embedded', 'ctranslate2': 'embedded',
    'ai_edge_litert': 'embedded', 'h5py': 'embedded', 'tokenizers': 'embedded', 'safetensors': 'embedded',
    'xllamacpp': 'embedded', 'moderngl': 'embedded', 'glfw': 'embedded', 'transformers': 'transformers',
    'torch': 'transformers', 'llguidance': 'transformers', 'funasr': 'funasr', 'deepface': 'deepface',
    'tensorrt': 'gpu'}
"""Which extra brings a module that a chosen backend imports."""


class Parser(argparse.ArgumentParser):
    """An argument parser whose errors are one line."""

    def __init__(self, **options: Any) -> None:
        options.setdefault('formatter_class', argparse.RawDescriptionHelpFormatter)
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        self.exit(2, f'{self.prog}: {message} (see {self.prog} --help)\n')


def parser() -> argparse.ArgumentParser:
    """The whole command line; building it imports no room."""
    top = Parser(prog='emavatar', description='An empathetic face for a robot or a kiosk: it hears and sees a visitor, '
                 'understands what they feel, and answers with a voice and a face.',
                 epilog='Models are cached in ~/.cache/emavatar (EMAVATAR_MODELS names another folder).\n'
                 'Exit codes: 0 done, 2 bad input, 3 a model, device or package is missing, 130 interrupted.')
    top.add_argument('--version', action='version', version=f'emavatar {__version__}')
    commands = top.add_subparsers(title='commands', metavar='COMMAND', required=True, parser_class=Parser)
    for name in COMMANDS:
        import_module(f'emavatar_ros.commands.{name}').add(commands)
    return top


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    own_process = argv is None
    try:
        args = parser().parse_args(argv)
        if own_process:
            for number in (signal.SIGTERM, signal.SIGHUP):
                if signal.getsignal(number) != signal.SIG_IGN:  # nohup has it ignored
                    signal.signal(number, _terminated)
        code = int(args.run(args))
        sys.stdout.flush()
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:
        # Whoever read our output has enough; Python's own flush at exit must not complain about it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except EmavatarError as error:
        code = _say(str(error), error.exit_code)
    except ModuleNotFoundError as error:
        module = (error.name or '').split('.')[0]
        if module not in EXTRAS:
            raise
        code = _say(f'{module} is not installed: pip install \'emavatar-ros[{EXTRAS[module]}]\'', 3)
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EACCES, errno.EPERM):
            raise
        where = f'{error.filename} ' if error.filename else 'the output '
        verb = 'used' if error.errno in (errno.EACCES, errno.EPERM) else 'written'
        code = _say(f'{where}can\'t be {verb} ({error.strerror}): choose another folder or free some space', 2)
    if own_process and code == INTERRUPTED:
        # A model may be at work in a native thread that can't be stopped; nothing is left to tidy up.
        sys.stdout.flush()
        os._exit(code)
    return code


def _say(message: str, code: int) -> int:
    print(f'emavatar: {" ".join(message.split())}', file=sys.stderr)
    return code


def _terminated(*_: object) -> NoReturn:
    """SIGTERM and SIGHUP end a command as Ctrl-C does: what it had begun to write is taken away."""
    raise KeyboardInterrupt


if __name__ == '__main__':
    sys.exit(main())
