import { describe, expect, it } from 'vitest';
import { ROWS } from '../../src/domain/automaton.ts';
import { countsLine } from './counts.ts';
import { CORE, WORLDS } from './plans.ts';
import { search } from './search.ts';

describe('every run of the automaton with few things out of the ordinary', () => {
  const rows = new Set<string>();
  let [states, transitions] = [0, 0];

  it.each(WORLDS)('keeps the laws and comes to an end wherever one thing goes wrong: $name', { timeout: 60_000 }, ({ plan, begin }) => {
    const found = search(plan, 1, { isThorough: true, begin });
    for (const row of found.rows) rows.add(row);
    states += found.states;
    transitions += found.transitions;
    expect(Object.fromEntries(found.violations)).toEqual({});
    expect(found.endless).toEqual([]);
    expect(found.states).toBeGreaterThan(500);
  });

  it('reaches every row of the table: none is dead', () => {
    process.stdout.write(
      `search of the automaton: ${states} states, ${transitions} transitions, ${rows.size} rows of ${ROWS.length} and the beginning reached\n`,
    );
    expect(ROWS.map((row) => row.id).filter((id) => !rows.has(id))).toEqual([]);
  });

  it('keeps the laws and comes to an end wherever two things go wrong: more than 40,000 states', { timeout: 120_000 }, () => {
    const found = search(CORE, 2);
    process.stdout.write(`search of its heart, two deviations: ${countsLine(found)}\n`);
    expect(Object.fromEntries(found.violations)).toEqual({});
    expect(found.endless).toEqual([]);
    expect(found.states).toBeGreaterThan(40_000);
  });
});
