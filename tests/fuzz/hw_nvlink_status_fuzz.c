/* SPDX-License-Identifier: Apache-2.0 */
#include "hw_fuzz.h"

FUZZ_READER(lf_hw_read_nvlink_status)
