"""What a user is busy with."""
