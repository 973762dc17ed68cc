// Does nothing: its start is what linking LibTorch costs.

int main() {}
