/* SPDX-License-Identifier: MIT */
#ifndef _CTYPE_H
#define _CTYPE_H

/* ASCII only; a value above 127 or EOF belongs to no class. */
int isalnum(int character);
int isalpha(int character);
int isblank(int character);
int iscntrl(int character);
int isdigit(int character);
int isgraph(int character);
int islower(int character);
int isprint(int character);
int ispunct(int character);
int isspace(int character);
int isupper(int character);
int isxdigit(int character);
int tolower(int character);
int toupper(int character);

#endif
