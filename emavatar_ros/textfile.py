"""Text files that people hand in, one entry a line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from emavatar_ros.errors import BadInput

LARGEST: Final = 100_000_000
"""Longest file, in bytes."""


def read_lines(path: Path) -> list[str]:
    """The lines of a file of texts, `-` for standard input; raises BadInput in one sentence."""
    try:
        data = sys.stdin.buffer.read(LARGEST + 1) if str(path) == '-' else path.read_bytes()
        content = data.decode('utf-8-sig')
    except OSError as error:
        raise BadInput(f'{path} can\'t be read: {error.strerror}') from None
    except UnicodeDecodeError:
        raise BadInput(f'{path} is no UTF-8 text: save it as UTF-8, one text a line') from None
    if len(data) > LARGEST:
        raise BadInput(f'{path} is larger than {LARGEST // 1_000_000} MB: split it')
    return content.replace('\r\n', '\n').removesuffix('\n').split('\n') if content else []
