#!/usr/bin/env python
"""Django's command line, with memoryhub's settings."""

import os
import sys


def sets_up_a_home(words: list[str]) -> bool:
    """Whether this command makes a home that is missing; nothing else does: it may be a disk that is not mounted yet.

    The demo only makes one that was named, never the one a person would use.
    """
    if {"-h", "--help"} & set(words):
        return False
    return words[:1] == ["migrate"] or (words[:1] == ["demo"] and "MEMORYHUB_HOME" in os.environ)


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryhub.settings")
    from django.core.exceptions import ImproperlyConfigured
    from django.core.management import execute_from_command_line

    from memoryhub import environment

    try:
        # Before the settings are read: they keep the secret key in the home.
        if sets_up_a_home(sys.argv[1:]):
            environment.make_home()
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"{error}")


if __name__ == "__main__":
    main()
