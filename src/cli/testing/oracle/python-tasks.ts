import type { OracleTask } from "./task.ts";

function python(module: string, cases: readonly (readonly [name: string, check: string])[]): Record<string, string> {
  const methods = cases.map(([name, check]) => `    def test_${name}(self):\n        ${check}\n`).join("\n");
  return {
    [`test_${module}.py`]: `import unittest\n\nfrom ${module} import *\n\n\nclass Tests(unittest.TestCase):\n${methods}`,
  };
}

export const PYTHON_TASKS: readonly OracleTask[] = [
  {
    name: "leap years",
    language: "python",
    path: "leap.py",
    solution: `def is_leap(year):
    """Whether the year has a 29th of February."""
    if year % 400 == 0:
        return True
    return year % 4 == 0 and year % 100 != 0
`,
    tests: python("leap", [
      ["ordinary", "self.assertFalse(is_leap(2023))"],
      ["fourth", "self.assertTrue(is_leap(2024))"],
      ["century", "self.assertFalse(is_leap(1900))"],
      ["fourth_century", "self.assertTrue(is_leap(2000))"],
    ]),
    faults: [
      { right: "    if year % 400 == 0:", wrong: "    if year % 500 == 0:", shownBy: "test_fourth_century" },
      {
        right: "    return year % 4 == 0 and year % 100 != 0",
        wrong: "    return year % 4 == 0 and year % 100 != 1",
        shownBy: "test_century",
      },
    ],
  },
  {
    name: "roman numbers",
    language: "python",
    path: "roman.py",
    solution: `PAIRS = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"),
         (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def roman(number):
    result = ""
    for value, letters in PAIRS:
        while number >= value:
            result += letters
            number -= value
    return result
`,
    tests: python("roman", [
      ["one", 'self.assertEqual(roman(1), "I")'],
      ["four", 'self.assertEqual(roman(4), "IV")'],
      ["year", 'self.assertEqual(roman(1998), "MCMXCVIII")'],
    ]),
    faults: [{ right: "        while number >= value:", wrong: "        while number > value:", shownBy: "test_one" }],
    habit: "relies_on_check",
  },
  {
    name: "run lengths",
    language: "python",
    path: "lengths.py",
    solution: `import itertools


def encode(text):
    runs = [(key, len(list(group))) for key, group in itertools.groupby(text)]
    return "".join(f"{count if count > 1 else ''}{key}" for key, count in runs)


def decode(text):
    result, count = "", ""
    for letter in text:
        if letter.isdigit():
            count += letter
        else:
            result += letter * int(count or 1)
            count = ""
    return result
`,
    tests: python("lengths", [
      ["single", 'self.assertEqual(encode("abc"), "abc")'],
      ["several", 'self.assertEqual(encode("aaab"), "3ab")'],
      ["long", 'self.assertEqual(decode("12a"), "a" * 12)'],
      ["mixed", 'self.assertEqual(decode("2a3b"), "aabbb")'],
    ]),
    faults: [
      { right: "            count += letter", wrong: "            count = letter", shownBy: "test_long" },
      { right: '            count = ""', wrong: '            count = "1"', shownBy: "test_mixed" },
    ],
    habit: "misremembers",
  },
  {
    name: "an account",
    language: "python",
    path: "account.py",
    solution: `class Account:
    def __init__(self):
        self.balance = 0

    def deposit(self, amount):
        if amount <= 0:
            raise ValueError("the amount must be positive")
        self.balance += amount

    def withdraw(self, amount):
        if amount > self.balance:
            raise ValueError("the balance is too small")
        self.balance -= amount
`,
    tests: python("account", [
      ["deposit", "a = Account(); a.deposit(5); self.assertEqual(a.balance, 5)"],
      ["nothing", "self.assertRaises(ValueError, Account().deposit, 0)"],
      ["too_much", "self.assertRaises(ValueError, Account().withdraw, 1)"],
      ["all", "a = Account(); a.deposit(5); a.withdraw(5); self.assertEqual(a.balance, 0)"],
    ]),
    faults: [
      { right: "        if amount > self.balance:", wrong: "        if amount >= self.balance:", shownBy: "test_all" },
    ],
    habit: "cut_off",
  },
  {
    name: "words of a text",
    language: "python",
    path: "words.py",
    solution: `import re
from collections import Counter


def count_words(text):
    words = re.findall(r"[a-z0-9]+(?:'[a-z]+)?", text.lower())
    return dict(Counter(words))
`,
    tests: python("words", [
      ["one", 'self.assertEqual(count_words("go"), {"go": 1})'],
      ["case", 'self.assertEqual(count_words("Go go GO"), {"go": 3})'],
      ["apostrophe", 'self.assertEqual(count_words("don\'t"), {"don\'t": 1})'],
    ]),
    faults: [
      // Not even a module: the traceback says which line.
      {
        right: "    return dict(Counter(words))",
        wrong: "    return dict(Counter(words)",
        shownBy: "was never closed",
      },
      { right: '", text.lower())', wrong: '", text)', shownBy: "test_case" },
    ],
    habit: "wrong_names",
  },
];
