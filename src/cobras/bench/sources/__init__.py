"""Where the tasks' data is found."""
