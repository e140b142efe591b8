import type { OracleTask } from "./task.ts";

function perl(
  module: string,
  cases: Readonly<Record<string, readonly [is: string, wanted: string]>>,
): Record<string, string> {
  const tests = Object.entries(cases).map(([name, [is, wanted]]) => `is(${is}, ${wanted}, '${name}');\n`);
  return {
    [`t/${module}.t`]: `use strict;\nuse warnings;\nuse lib '.';\nuse Test::More;\nuse ${module};\n\n${tests.join("")}done_testing();\n`,
  };
}

const module = (name: string, body: string): string => `package ${name};\nuse strict;\nuse warnings;\n\n${body}\n1;\n`;

export const PERL_TASKS: readonly OracleTask[] = [
  {
    name: "trimmed text",
    language: "perl",
    path: "Trim.pm",
    solution: module(
      "Trim",
      `sub trim {
    my ($text) = @_;
    $text =~ s/^\\s+//;
    $text =~ s/\\s+$//;
    return $text;
}
`,
    ),
    tests: perl("Trim", {
      "nothing to trim": ["Trim::trim('a')", "'a'"],
      "blanks in front": ["Trim::trim('  a')", "'a'"],
      "blanks behind": ["Trim::trim('a  ')", "'a'"],
    }),
    faults: [{ right: "    $text =~ s/\\s+$//;", wrong: "    $text =~ s/\\s$//;", shownBy: "blanks behind" }],
  },
  {
    name: "a calculator of postfix terms",
    language: "perl",
    path: "Postfix.pm",
    solution: module(
      "Postfix",
      `my %operators = (
    '+' => sub { $_[0] + $_[1] },
    '-' => sub { $_[0] - $_[1] },
    '*' => sub { $_[0] * $_[1] },
);

sub value {
    my ($term) = @_;
    my @stack;
    for my $word (split ' ', $term) {
        if (exists $operators{$word}) {
            my $right = pop @stack;
            my $left = pop @stack;
            push @stack, $operators{$word}->($left, $right);
        } else {
            push @stack, $word;
        }
    }
    return $stack[0];
}
`,
    ),
    tests: perl("Postfix", {
      "a sum": ["Postfix::value('1 2 +')", "3"],
      "a difference": ["Postfix::value('5 3 -')", "2"],
      "terms in terms": ["Postfix::value('2 3 4 * +')", "14"],
    }),
    faults: [
      { right: "->($left, $right);", wrong: "->($right, $left);", shownBy: "a difference" },
      {
        right: "    '*' => sub { $_[0] * $_[1] },",
        wrong: "    '*' => sub { $_[0] + $_[1] },",
        shownBy: "terms in terms",
      },
    ],
    habit: "cut_off",
  },
  {
    name: "the greatest common divisor",
    language: "perl",
    path: "Divisor.pm",
    solution: module(
      "Divisor",
      `sub common {
    my ($first, $second) = @_;
    while ($second != 0) {
        ($first, $second) = ($second, $first % $second);
    }
    return abs $first;
}
`,
    ),
    tests: perl("Divisor", {
      "two numbers": ["Divisor::common(12, 18)", "6"],
      "one is zero": ["Divisor::common(7, 0)", "7"],
      "a negative one": ["Divisor::common(-8, 0)", "8"],
    }),
    faults: [{ right: "    return abs $first;", wrong: "    return $first;", shownBy: "a negative one" }],
    habit: "relies_on_check",
  },
];
