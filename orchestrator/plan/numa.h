/* SPDX-License-Identifier: Apache-2.0 */
/* numa - the memory nodes near some GPUs.
 *
 * GPUs are found below `root` ("" for the machine) in PCI order, which is how
 * Slurm counts them in SLURM_STEP_GPUS. */
#ifndef NUMA_H
#define NUMA_H

/* Bit n: NUMA node n holds one of the GPUs "0,2-3"; 0 if unknown. */
unsigned long numa_near(const char *root, const char *gpus);

#endif
