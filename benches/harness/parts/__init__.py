"""One file per part; each has `measure(report, quick)`."""
