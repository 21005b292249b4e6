import { describe, expect, it } from 'vitest';
import { PowerFeed } from './power-feed.ts';
import type { Feed } from './scenario.ts';

/** A machine that notes who switched it. */
class Board {
  state: 'on' | 'off' = 'on';
  readonly edges: string[] = [];

  powerOn(cause: string): void {
    if (this.state === 'off') this.edges.push(`on by ${cause}`);
    this.state = 'on';
  }

  powerOff(cause: string): void {
    if (this.state === 'on') this.edges.push(`off by ${cause}`);
    this.state = 'off';
  }
}

function fed(restore: Feed['restore']) {
  const board = new Board();
  const feed = new PowerFeed(board, restore);
  return { board, feed, one: feed.outlet('1'), two: feed.outlet('2'), own: feed.board() };
}

describe('the mains of a machine', () => {
  it('are gone with the last outlet, and not before', () => {
    const { board, feed, one, two } = fed('always-on');
    one.off();
    expect([board.state, feed.hasMains(), one.state(), two.state()]).toEqual(['on', true, 'off', 'on']);
    two.off();
    expect([board.state, feed.hasMains()]).toEqual(['off', false]);
    expect(board.edges).toEqual(['off by set']);
  });

  it('never fail a machine without outlets', () => {
    const feed = new PowerFeed(new Board(), 'last');
    expect(feed.hasMains()).toBe(true);
  });

  it.each([
    ['always-on', 'on', 'on'],
    ['always-on', 'off', 'on'],
    ['last', 'on', 'on'],
    ['last', 'off', 'off'],
    ['always-off', 'on', 'off'],
  ] as const)('when they come back, with restore policy %s, leave a machine that was %s before %s', (restore, before, after) => {
    const { board, one, two, own } = fed(restore);
    if (before === 'off') own.off();
    one.off();
    two.off();
    one.on('set');
    expect(board.state).toBe(after);
    two.on('set');
    expect(board.state, 'the second outlet changes nothing any more').toBe(after);
  });

  it('let no switch on the board do anything while they are gone', () => {
    const { board, one, two, own } = fed('always-off');
    one.off();
    two.off();
    own.on('set');
    expect(board.state).toBe('off');
    one.on('set');
    own.on('set');
    expect(board.state).toBe('on');
    expect(own.state()).toBe('on');
  });

  it('come back with every plug, and the machine stays as it is', () => {
    const { board, feed, one, two } = fed('always-on');
    one.off();
    two.off();
    feed.plugIn();
    expect([one.state(), two.state(), feed.hasMains(), board.state]).toEqual(['on', 'on', true, 'off']);
  });
});
