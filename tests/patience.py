"""How long tests wait for a process, a server or a page.

Far longer than any takes, so that a machine may do much else meanwhile: a limit is for what never
ends, and says nothing about speed, which is told in seconds of the processor.
"""

LONGEST = 600.0  # seconds
