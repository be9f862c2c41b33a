/* A shared library that is no device: it lacks the one symbol. Loaded by device/host/test. */
__attribute__((visibility("default"))) int answer_to_nothing(void);
int answer_to_nothing(void) {
    return 42;
}
