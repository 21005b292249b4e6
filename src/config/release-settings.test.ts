import { describe, expect, it } from 'vitest';
import { errors, plan, seedWith } from './testing/plans.ts';

describe('the pace of a release', () => {
  it('is none where nothing is written, or an empty value', () => {
    for (const text of ['', 'pods_per_minute=\npriority_order=']) {
      const result = plan(seedWith(text));
      expect([result.podsPerMinute, result.priorityOrder, errors(result)]).toEqual([undefined, undefined, []]);
    }
  });

  it('is read with the PriorityClasses that go first', () => {
    expect(plan(seedWith('pods_per_minute=30\npriority_order=gold, silver'))).toMatchObject({ podsPerMinute: 30, priorityOrder: ['gold', 'silver'] });
  });

  it.each([
    ['pods_per_minute=0', 'a whole number from 1'],
    ['pods_per_minute=many', 'a whole number from 1'],
    ['priority_order=Gold', 'names of PriorityClasses'],
    ['priority_order=gold gold', 'each once'],
  ])('%s is an error of power-management', (text, words) => {
    const [problem] = errors(plan(seedWith(text)));
    expect(problem).toMatchObject({ step: 'power-management', message: expect.stringContaining(words) as string });
  });
});

describe('storage=', () => {
  function problemsOf(method: string): string[] {
    const result = plan(seedWith('isolation=fc', { 'fence-method-fc': `agent_name=brocade\nip=192.0.2.5\nplug=1\n${method}` }));
    return result.problems.filter(({ message }) => message.includes('storage')).map(({ severity, message }) => `${severity} ${message}`);
  }

  it('stands in the plan with what says which volumes are on it', () => {
    const text = 'action=off\nstorage=san\nstorage_match=driver:san.example.org+handle:pool1- class:fast';
    expect(problemsOf(text)).toEqual([]);
    const result = plan(seedWith('isolation=fc', { 'fence-method-fc': `agent_name=brocade\nip=192.0.2.5\nplug=1\n${text}` }));
    expect(result.isolation[0]?.methods[0]).toMatchObject({ storage: 'san', storageMatch: 'driver:san.example.org+handle:pool1- class:fast' });
  });

  it.each([
    ['action=off\nstorage=san', 'warning storage=san without storage_match='],
    ['action=off\nstorage=san\nstorage_match=colour:red', 'error storage_match has colour:red'],
    ['action=off\nstorage=san\nstorage_match=handle:', 'error storage_match has handle:'],
    ['action=off\nstorage_match=class:x', 'warning storage_match of fc means nothing without storage='],
    ['action=on\nstorage=san\nstorage_match=class:x', 'warning storage=san: fc closes no path to it'],
  ])('%j is told', (method, words) => {
    expect(problemsOf(method)).toEqual([expect.stringContaining(words)]);
  });
});
