"""What can go wrong, said so that the reader knows what to do.

A message is one sentence for a person: what is wrong and how to put it right. `exit_code` is what the
`emavatar` command ends with; `retry` tells whether the same call may succeed later.
"""


class EmavatarError(Exception):
    """Base of every error the project raises on purpose."""

    exit_code = 1
    retry = False


class BadInput(EmavatarError):
    """The caller gave something that can't be used: a broken file, an unknown name, a value out of range."""

    exit_code = 2


class Missing(EmavatarError):
    """A model, a device, a program or an optional package is not there; the message says how to get it."""

    exit_code = 3


class Unavailable(EmavatarError):
    """A server or a device did not answer in time; trying again may help."""

    exit_code = 3
    retry = True
