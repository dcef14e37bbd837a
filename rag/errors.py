"""What can go wrong, by who can mend it. The command line prints one line and exits with `exit_code`."""

from __future__ import annotations


class AskAbstractsError(Exception):
    """The base of every error that the product raises on purpose."""

    exit_code = 2


class InputError(AskAbstractsError):
    """What was given cannot be used: a file, a question, an option."""


class SettingsError(AskAbstractsError):
    """A setting is unknown or has no sense; the message names where it was set."""


class StoreError(AskAbstractsError):
    """The store cannot be used as asked: made with another encoder, of another version, damaged."""


class OutsideError(AskAbstractsError):
    """Something outside the product failed: the disk, a model's files, an endpoint."""

    exit_code = 3


class LockedError(OutsideError, StoreError):
    """Another process holds the store for writing; the message names it."""
