import { expect, it } from 'vitest';
import { AnswerBudget } from './answer-budget.ts';

/** How many of so many requests are answered. */
function answered(budget: AnswerBudget, requests: number, from: (index: number) => string, isPeer = false): number {
  return Array.from({ length: requests }, (_, index) => budget.mayAnswer(from(index), isPeer)).filter(Boolean).length;
}

it('answers a peer although strangers flood, from one address or from many', () => {
  const budget = new AnswerBudget();
  expect(answered(budget, 1_000, (index) => `192.0.2.66:${index}`)).toBe(50);
  expect(answered(budget, 1_000, (index) => `198.51.100.${index % 250}:7411`)).toBe(150);
  expect(answered(budget, 1_000, (index) => `203.0.113.${index % 250}:7411`)).toBe(0);
  expect(answered(budget, 3, () => '192.0.2.1:7411', true)).toBe(3);
});

it('answers a node that is no peer although somebody else floods from one address', () => {
  const budget = new AnswerBudget();
  answered(budget, 1_000, (index) => `[2001:db8::66]:${index}`);
  expect(answered(budget, 2, () => '[2001:db8::1]:7411')).toBe(2);
});

it('answers no peer for ever, whatever claims to come from there, and each anew with the next heartbeat', () => {
  const budget = new AnswerBudget();
  expect(answered(budget, 1_000, () => '192.0.2.1:7411', true)).toBe(16);
  expect(answered(budget, 1_000, () => '192.0.2.2:7411')).toBe(50);
  budget.renew();
  expect(answered(budget, 1, () => '192.0.2.1:7411', true)).toBe(1);
  expect(answered(budget, 1_000, () => '192.0.2.2:7411')).toBe(50);
});
