"""Ground floor: sound and pictures as plain values, from files and devices, at any rate, size and format."""
