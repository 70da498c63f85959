"""Dates in English: day before month, the clock with 24 hours. The names are Django's."""

DATE_FORMAT = SHORT_DATE_FORMAT = "j M Y"
DATETIME_FORMAT = SHORT_DATETIME_FORMAT = "j M Y, H:i"
TIME_FORMAT = "H:i"
FIRST_DAY_OF_WEEK = 1
