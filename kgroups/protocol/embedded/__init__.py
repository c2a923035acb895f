"""What clients put inside group metadata: opaque to brokers, decoded here, or kept as raw bytes with the reason."""
