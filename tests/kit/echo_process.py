"""A process that repeats what it is asked, behind the first message that it got."""

from silverball.kit import processes

if __name__ == "__main__":
    processes.serve(lambda setup: lambda question: setup + question)
