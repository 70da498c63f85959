#!/usr/bin/env python
"""Django's command line, with memoryhub's settings."""

import os
import sys


def make_home() -> None:
    """Make the home these two commands set up, its owner's alone: it holds memory, and the database beside it.

    Nothing else makes one, because a missing home may be a disk that is not mounted yet.
    """
    from django.conf import settings

    settings.MEMORYHUB_HOME.mkdir(mode=0o700, parents=True, exist_ok=True)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    try:
        if sys.argv[1:2] in (["migrate"], ["demo"]):
            make_home()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
