// SPDX-License-Identifier: MIT
/*
 * An interpreter for a small language of expressions and recursive functions.
 *
 *	program    = statement { ";" statement }             its value is that of the last one
 *	statement  = "def" name "(" [ name { "," name } ] ")" "=" expression
 *	           | name "=" expression | expression
 *	expression = "if" expression "then" expression "else" expression | comparison
 *	comparison = sum [ ( "<" | ">" | "==" ) sum ]
 *	sum        = product { ( "+" | "-" ) product }
 *	product    = unary { ( "*" | "/" | "%" ) unary }
 *	unary      = "-" unary | number | "(" expression ")"
 *	           | name [ "(" [ expression { "," expression } ] ")" ]
 *
 * Values are 64-bit integers. Errors use longjmp from any depth.
 *
 * A tracer sees run_program for each program; below it next_token and the parse_* functions,
 * which call each other as the grammar says and new_node (malloc) for the tree; then evaluate,
 * evaluate_operator and call_function, as deep as the program recurses; finally free_program.
 * After an error the functions between fail and run_program never return.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS_MAXIMUM 4
#define DEPTH_MAXIMUM 40 /* of calls */
#define NESTING_MAXIMUM 20 /* of expressions in the source */

/* Always a function of its own, and every call to it stays. */
#define traced __attribute__((noipa))
#define never_returns __attribute__((noreturn))

enum error {
	OK,
	ERROR_SYNTAX,
	ERROR_NAME,
	ERROR_ARGUMENTS,
	ERROR_DIVISION,
	ERROR_DEPTH,
	ERROR_MEMORY,
};

enum kind {
	TOKEN_END,
	TOKEN_NUMBER,
	TOKEN_NAME,
	TOKEN_DEF,
	TOKEN_IF,
	TOKEN_THEN,
	TOKEN_ELSE,
	TOKEN_EQUAL, /* == */
	NODE_CALL,
	/* Otherwise the character itself: + - * / % < > ( ) , ; = */
};

/* A part of the source, not copied. */
struct name {
	const char *text;
	size_t length;
};

struct node {
	int kind;
	int64_t number;
	struct name name;
	struct node *children[3];
	struct node *next;	/* argument in a call */
	struct node *allocated; /* all nodes, for free_program */
};

struct function {
	struct name name;
	struct name parameters[ARGUMENTS_MAXIMUM];
	int count;
	struct node *body;
	struct function *next;
};

struct variable {
	struct name name;
	int64_t value;
	struct variable *next;
};

/* The arguments of the current function. */
struct frame {
	const struct function *function;
	int64_t arguments[ARGUMENTS_MAXIMUM];
};

struct interpreter {
	const char *at;
	int token; /* the last one read */
	int64_t number;
	struct name name;
	int nesting;
	int depth;
	struct node *nodes;
	struct function *functions;
	struct variable *variables;
	jmp_buf on_error;
};

static int allocations;

traced never_returns static void fail(struct interpreter *in, enum error error)
{
	longjmp(in->on_error, error);
}

traced static void *allocate(struct interpreter *in, size_t size)
{
	void *area = calloc(1, size);

	if (!area)
		fail(in, ERROR_MEMORY);
	allocations++;
	return area;
}

traced static void release(void *area)
{
	allocations--;
	free(area);
}

static inline bool same_name(struct name left, struct name right)
{
	return left.length == right.length && !memcmp(left.text, right.text, left.length);
}

/* --- Tokens ------------------------------------------------------------------------------- */

traced static int keyword(struct name name)
{
	static const struct {
		const char *text;
		int token;
	} keywords[] = {
		{ "def", TOKEN_DEF },
		{ "if", TOKEN_IF },
		{ "then", TOKEN_THEN },
		{ "else", TOKEN_ELSE },
	};

	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++)
		if (strlen(keywords[i].text) == name.length &&
		    !strncmp(keywords[i].text, name.text, name.length))
			return keywords[i].token;
	return TOKEN_NAME;
}

traced static void next_token(struct interpreter *in)
{
	while (isspace((unsigned char)*in->at))
		in->at++;
	if (!*in->at) {
		in->token = TOKEN_END;
	} else if (isdigit((unsigned char)*in->at)) {
		char *end;

		in->number = strtoll(in->at, &end, 10);
		in->at = end;
		in->token = TOKEN_NUMBER;
	} else if (isalpha((unsigned char)*in->at)) {
		const char *begin = in->at;

		while (isalnum((unsigned char)*in->at))
			in->at++;
		in->name = (struct name){ begin, (size_t)(in->at - begin) };
		in->token = keyword(in->name);
	} else if (!strncmp(in->at, "==", 2)) {
		in->at += 2;
		in->token = TOKEN_EQUAL;
	} else if (strchr("+-*/%<>(),;=", *in->at)) {
		in->token = *in->at++;
	} else {
		fail(in, ERROR_SYNTAX);
	}
}

static inline bool accept(struct interpreter *in, int token)
{
	if (in->token != token)
		return false;
	next_token(in);
	return true;
}

static inline void expect(struct interpreter *in, int token)
{
	if (!accept(in, token))
		fail(in, ERROR_SYNTAX);
}

/* --- Parser ------------------------------------------------------------------------------- */

traced static struct node *parse_expression(struct interpreter *in);

traced static struct node *new_node(struct interpreter *in, int kind, struct node *left,
				    struct node *right)
{
	struct node *node = allocate(in, sizeof(*node));

	node->allocated = in->nodes;
	in->nodes = node;
	node->kind = kind;
	node->number = in->number;
	node->name = in->name;
	node->children[0] = left;
	node->children[1] = right;
	return node;
}

traced static void parse_arguments(struct interpreter *in, struct node *call)
{
	struct node **end = &call->children[0];

	if (accept(in, ')'))
		return;
	do {
		*end = parse_expression(in);
		end = &(*end)->next;
	} while (accept(in, ','));
	expect(in, ')');
}

traced static struct node *parse_unary(struct interpreter *in)
{
	struct node *node = NULL;

	if (++in->nesting > NESTING_MAXIMUM)
		fail(in, ERROR_DEPTH);
	if (accept(in, '-')) {
		node = new_node(in, '-', NULL, parse_unary(in));
	} else if (accept(in, '(')) {
		node = parse_expression(in);
		expect(in, ')');
	} else {
		node = new_node(in, in->token, NULL, NULL);
		if (in->token != TOKEN_NUMBER)
			expect(in, TOKEN_NAME);
		else
			next_token(in);
		if (node->kind == TOKEN_NAME && accept(in, '(')) {
			node->kind = NODE_CALL;
			parse_arguments(in, node);
		}
	}
	in->nesting--;
	return node;
}

traced static struct node *parse_product(struct interpreter *in)
{
	struct node *node = parse_unary(in);

	while (in->token == '*' || in->token == '/' || in->token == '%') {
		int operator = in->token;

		next_token(in);
		node = new_node(in, operator, node, parse_unary(in));
	}
	return node;
}

traced static struct node *parse_sum(struct interpreter *in)
{
	struct node *node = parse_product(in);

	while (in->token == '+' || in->token == '-') {
		int operator = in->token;

		next_token(in);
		node = new_node(in, operator, node, parse_product(in));
	}
	return node;
}

traced static struct node *parse_comparison(struct interpreter *in)
{
	struct node *node = parse_sum(in);
	int operator = in->token;

	if (operator == '<' || operator == '>' || operator == TOKEN_EQUAL) {
		next_token(in);
		node = new_node(in, operator, node, parse_sum(in));
	}
	return node;
}

traced static struct node *parse_expression(struct interpreter *in)
{
	struct node *node;

	if (!accept(in, TOKEN_IF))
		return parse_comparison(in);
	node = new_node(in, TOKEN_IF, NULL, NULL);
	node->children[0] = parse_expression(in);
	expect(in, TOKEN_THEN);
	node->children[1] = parse_expression(in);
	expect(in, TOKEN_ELSE);
	node->children[2] = parse_expression(in);
	return node;
}

/* After "def". */
traced static void parse_function(struct interpreter *in)
{
	struct function *function = allocate(in, sizeof(*function));

	function->next = in->functions;
	in->functions = function;
	function->name = in->name;
	expect(in, TOKEN_NAME);
	expect(in, '(');
	if (!accept(in, ')')) {
		do {
			if (function->count == ARGUMENTS_MAXIMUM)
				fail(in, ERROR_ARGUMENTS);
			function->parameters[function->count++] = in->name;
			expect(in, TOKEN_NAME);
		} while (accept(in, ','));
		expect(in, ')');
	}
	expect(in, '=');
	function->body = parse_expression(in);
}

/* --- Evaluation --------------------------------------------------------------------------- */

traced static int64_t evaluate(struct interpreter *in, const struct node *node,
			       const struct frame *frame);

traced static int64_t look_up(struct interpreter *in, struct name name, const struct frame *frame)
{
	for (int i = 0; frame && i < frame->function->count; i++)
		if (same_name(frame->function->parameters[i], name))
			return frame->arguments[i];
	for (const struct variable *v = in->variables; v; v = v->next)
		if (same_name(v->name, name))
			return v->value;
	fail(in, ERROR_NAME);
}

traced static int64_t call_function(struct interpreter *in, const struct node *call,
				    const struct frame *frame)
{
	struct frame inner = { .function = in->functions };
	int64_t value;
	int count = 0;

	while (inner.function && !same_name(inner.function->name, call->name))
		inner.function = inner.function->next;
	if (!inner.function)
		fail(in, ERROR_NAME);
	for (const struct node *node = call->children[0]; node; node = node->next) {
		if (count == inner.function->count)
			fail(in, ERROR_ARGUMENTS);
		inner.arguments[count++] = evaluate(in, node, frame);
	}
	if (count != inner.function->count)
		fail(in, ERROR_ARGUMENTS);
	if (++in->depth > DEPTH_MAXIMUM)
		fail(in, ERROR_DEPTH);
	value = evaluate(in, inner.function->body, &inner);
	in->depth--;
	return value;
}

traced static int64_t evaluate_operator(struct interpreter *in, int operator, int64_t left,
					int64_t right)
{
	/* Wrap around as the hardware does, which signed arithmetic may not. */
	uint64_t a = (uint64_t)left, b = (uint64_t)right;

	switch (operator) {
	case '+':
		return (int64_t)(a + b);
	case '-':
		return (int64_t)(a - b);
	case '*':
		return (int64_t)(a * b);
	case '<':
		return left < right;
	case '>':
		return left > right;
	case TOKEN_EQUAL:
		return left == right;
	}
	if (!right || (left == INT64_MIN && right == -1))
		fail(in, ERROR_DIVISION);
	return operator == '/' ? left / right : left % right;
}

traced static int64_t evaluate(struct interpreter *in, const struct node *node,
			       const struct frame *frame)
{
	int64_t left;

	switch (node->kind) {
	case TOKEN_NUMBER:
		return node->number;
	case TOKEN_NAME:
		return look_up(in, node->name, frame);
	case NODE_CALL:
		return call_function(in, node, frame);
	case TOKEN_IF:
		left = evaluate(in, node->children[0], frame);
		return evaluate(in, node->children[left ? 1 : 2], frame);
	}
	left = node->children[0] ? evaluate(in, node->children[0], frame) : 0;
	return evaluate_operator(in, node->kind, left, evaluate(in, node->children[1], frame));
}

/* --- Programs ----------------------------------------------------------------------------- */

traced static int64_t run_statement(struct interpreter *in)
{
	struct variable *variable;
	struct node *node;
	int64_t value;

	if (accept(in, TOKEN_DEF)) {
		parse_function(in);
		return 0;
	}
	node = parse_expression(in);
	if (!accept(in, '='))
		return evaluate(in, node, NULL);
	if (node->kind != TOKEN_NAME)
		fail(in, ERROR_SYNTAX);
	/* Evaluate first: the value may use the old variable of that name. */
	value = evaluate(in, parse_expression(in), NULL);
	variable = allocate(in, sizeof(*variable));
	*variable = (struct variable){ node->name, value, in->variables };
	in->variables = variable;
	return value;
}

traced static void free_program(struct interpreter *in)
{
	while (in->nodes) {
		struct node *node = in->nodes;

		in->nodes = node->allocated;
		release(node);
	}
	while (in->functions) {
		struct function *function = in->functions;

		in->functions = function->next;
		release(function);
	}
	while (in->variables) {
		struct variable *variable = in->variables;

		in->variables = variable->next;
		release(variable);
	}
}

/* The caller owns the interpreter: locals changed after setjmp are indeterminate. */
traced static enum error run_program(struct interpreter *in, const char *source, int64_t *value)
{
	enum error error;

	memset(in, 0, sizeof(*in));
	in->at = source;
	error = (enum error)setjmp(in->on_error);
	if (!error) {
		next_token(in);
		do
			*value = run_statement(in);
		while (accept(in, ';'));
		if (in->token != TOKEN_END)
			fail(in, ERROR_SYNTAX);
	}
	free_program(in);
	return error;
}

struct program {
	const char *source;
	int64_t value;
	enum error error;
};

static const struct program programs[] = {
	{ "1 + 2 * 3 - 8 / 4 % 3", 5, OK },
	{ "-(7 - 10) * --2", 6, OK },
	{ "x = 6; y = x * 7; x = y + (x == 6) + (y < x); x", 43, OK },
	{ "9223372036854775807 + 1", INT64_MIN, OK },
	{ "1000000000000 / 7 + 1000000000000 % 7", 142857142858, OK },
	{ "def fib(n) = if n < 2 then n else fib(n - 1) + fib(n - 2); fib(13)", 233, OK },
	{ "def gcd(a, b) = if b == 0 then a else gcd(b, a % b); gcd(1071, 462)", 21, OK },
	{ "def fact(n) = if n == 0 then 1 else n * fact(n - 1); fact(20)", 2432902008176640000,
	  OK },
	{ "def ack(m, n) = if m == 0 then n + 1 else if n == 0 then ack(m - 1, 1)"
	  " else ack(m - 1, ack(m, n - 1)); ack(2, 3)", 9, OK },
	{ "def even(n) = if n == 0 then 1 else odd(n - 1);"
	  "def odd(n) = if n == 0 then 0 else even(n - 1); even(20) * 10 + odd(20)", 10, OK },
	{ "def power(b, e, m) = if e == 0 then 1 else"
	  " (if e % 2 then b else 1) * power(b * b % m, e / 2, m) % m; power(3, 1000, 1000007)",
	  297623, OK },
	{ "def hanoi(n, a, b, c) = if n == 0 then 0 else"
	  " hanoi(n - 1, a, c, b) + 1 + hanoi(n - 1, c, b, a); hanoi(7, 1, 2, 3)", 127, OK },
	{ "", 0, ERROR_SYNTAX },
	{ "1 +", 0, ERROR_SYNTAX },
	{ "1 $ 2", 0, ERROR_SYNTAX },
	{ "1 2", 0, ERROR_SYNTAX },
	{ "3 = 4", 0, ERROR_SYNTAX },
	{ "def f(a, 1) = a", 0, ERROR_SYNTAX },
	{ "f(1", 0, ERROR_SYNTAX },
	{ "x + 1", 0, ERROR_NAME },
	{ "f(1)", 0, ERROR_NAME },
	{ "def f(a, b) = a; f(1)", 0, ERROR_ARGUMENTS },
	{ "def f(a, b) = a; f(1, 2, 3)", 0, ERROR_ARGUMENTS },
	{ "def f(a, b, c, d, e) = a", 0, ERROR_ARGUMENTS },
	{ "def f(x) = 1 / x; f(f(1) - 1)", 0, ERROR_DIVISION },
	{ "def f(x) = f(x + 1); f(0)", 0, ERROR_DEPTH },
	{ "(((((((((((((((((((((1)))))))))))))))))))))", 0, ERROR_DEPTH },
};

traced static int check_program(const struct program *program)
{
	struct interpreter interpreter;
	int64_t value = 0;
	enum error error = run_program(&interpreter, program->source, &value);

	if (error == program->error && (error || value == program->value) && !allocations)
		return 0;
	printf("interpreter: \"%s\" gave %lld, error %d, and left %d allocations\n",
	       program->source, (long long)value, error, allocations);
	return 1;
}

int workload(void)
{
	int wrong = 0;

	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		wrong += check_program(&programs[i]);
	return wrong;
}
