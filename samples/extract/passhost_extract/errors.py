"""The one exception of this package."""


class ExtractError(Exception):
    """A model, a cut or an input that can't become a sample.

    The message names the thing, what was expected, what was found, and what to do about it.
    """
