"""`senselab`, the command line: it talks HTTP to an address and knows nothing of the server's insides."""
