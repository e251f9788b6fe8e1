"""``python -m clearwood``, the same as the command ``clearwood``."""

from clearwood.cli import main

if __name__ == "__main__":
    main(prog_name="clearwood")
