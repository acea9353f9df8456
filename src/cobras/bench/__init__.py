"""The paper's experiment as a library: tasks, protocol, runner, measures and report."""
