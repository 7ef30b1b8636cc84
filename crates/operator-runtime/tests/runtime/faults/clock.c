/* Steps of the wall clock, for one process: adds the seconds in the file CLOCK_STEP to CLOCK_REALTIME. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

int clock_gettime(clockid_t clock, struct timespec *time) {
    int (*next)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int result = next(clock, time);
    const char *path = getenv("CLOCK_STEP");
    FILE *file = clock == CLOCK_REALTIME && path ? fopen(path, "r") : NULL;
    long seconds = 0;
    if (file) {
        if (fscanf(file, "%ld", &seconds) == 1)
            time->tv_sec += seconds;
        fclose(file);
    }
    return result;
}
