"""The data, nights, robots and sandboxes of `silverball demo`."""
