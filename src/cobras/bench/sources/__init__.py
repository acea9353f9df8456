"""Where the data of the tasks is found, and how it is prepared."""
