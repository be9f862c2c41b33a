/* An optional second symbol of a device: how long its last run took by its own clock. A host that
 * measures time asks for it; without it a call is timed from outside, from the call to its return.
 */
#ifndef MX_DEVICE_CLOCK_H
#define MX_DEVICE_CLOCK_H

#include "device/abi/mx_device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Seconds from the moment the device began the work of the last run that ended with MX_OK in this
 * process, inputs in place, until the outputs were written; copies between host and device are not
 * counted. Below 0 where it is not known. */
#define MX_DEVICE_CLOCK_ENTRY "mx_device_last_seconds"
typedef double (*mx_device_last_seconds_function)(void);
MX_DEVICE_EXPORT double mx_device_last_seconds(void);

#ifdef __cplusplus
}
#endif

#endif /* MX_DEVICE_CLOCK_H */
