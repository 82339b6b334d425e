"""Where tournaments tell what happens: to programs, and to chats."""
