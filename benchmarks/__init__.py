"""Speed and memory beside what a user could assemble instead, and beside the machine's limit."""
