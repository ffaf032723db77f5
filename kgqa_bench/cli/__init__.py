"""The command line, one file a command."""

EXIT_UNSCORED = 1
EXIT_USAGE = 2
EXIT_FAILED = 3
EXIT_INTERRUPTED = 130
EXIT_CODES = (
    "Exit codes: 0 everything asked was scored; 1 some was not; 2 wrong usage, configuration or data; "
    "3 the model or the disk failed; 130 interrupted."
)
