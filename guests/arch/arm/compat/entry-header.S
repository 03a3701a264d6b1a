/* SPDX-License-Identifier: MIT */
/* There is nothing in it that a port needs. */
