"""The version of the package and its addresses, where everything may read them."""

from importlib.metadata import PackageNotFoundError, metadata

__version__ = "0.1.0"


def project_urls():
    """Return the addresses of the project by name; empty as long as the package has none.

    They are the `project_urls` of ``setup.cfg``, as the installed package tells them.
    """
    try:
        lines = metadata("skmtc").get_all("Project-URL") or []
    except PackageNotFoundError:  # a source folder that is not installed
        return {}
    return dict(line.split(", ", 1) for line in lines)
