"""`python -m rag` is the same as `rag`."""

from rag.cli import main

if __name__ == "__main__":
    main()
