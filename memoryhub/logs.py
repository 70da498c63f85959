"""What the log says of requests that were refused."""

import logging


class RefusalsInOneLine(logging.Filter):
    """A request answered with 4xx was understood and refused: one line, no traceback."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", 500) < 500:
            record.exc_info = record.exc_text = None
        return True
