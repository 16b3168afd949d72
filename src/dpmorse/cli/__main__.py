"""``python -m dpmorse.cli``: the command line where the script ``dpmorse`` is not on the path."""

from dpmorse.cli import main

if __name__ == "__main__":
    main()
