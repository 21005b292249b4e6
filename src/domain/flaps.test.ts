import { describe, expect, it } from 'vitest';
import { FLAPS, outcomeOf, POINTS } from './testing/flaps.ts';
import type { Flap, Point } from './testing/flaps.ts';

/** The row that decides right after the change; where the fence stands 160 s later; what was begun meanwhile. */
const TABLE: Readonly<Record<Point, Readonly<Record<Flap, readonly [row: string, rests: string, begins: string]>>>> = {
  'new, delayed': {
    'renews its lease': ['new-not-triggered', 'new', ''],
    'Ready, same boot': ['new-not-triggered', 'final, untouched', ''],
    'Ready, new boot': ['new-not-triggered', 'final, untouched', ''],
    NotReady: ['new-not-triggered', 'new', ''],
    'Ready, then silent': ['new-not-triggered', 'running', 'run:cordon'],
    silent: ['new-delay', 'running', 'run:cordon'],
  },
  'new, isolating': {
    'renews its lease': ['in-flight', 'new', ''],
    'Ready, same boot': ['in-flight', 'final, recovered', 'run:uncordon'],
    'Ready, new boot': ['in-flight', 'final, recovered', 'run:uncordon'],
    NotReady: ['in-flight', 'new', ''],
    'Ready, then silent': ['in-flight', 'running', ''],
    silent: ['in-flight', 'running', ''],
  },
  'running, delayed': {
    'renews its lease': ['running-not-triggered', 'running', ''],
    'Ready, same boot': ['running-not-triggered', 'final, recovered', 'run:uncordon'],
    'Ready, new boot': ['running-not-triggered', 'final, recovered', 'run:uncordon'],
    NotReady: ['running-not-triggered', 'running', ''],
    'Ready, then silent': ['running-not-triggered', 'running', ''],
    silent: ['running-delay', 'running', ''],
  },
  'running, off under way': {
    'renews its lease': ['in-flight', 'error, failed', 'release, release-end'],
    'Ready, same boot': ['in-flight', 'done', 'release (void), release-end, on:on'],
    'Ready, new boot': ['in-flight', 'final, recovered', 'release (void), release-end, on:on, run:uncordon'],
    NotReady: ['in-flight', 'error, failed', 'release, release-end'],
    'Ready, then silent': ['in-flight', 'done', 'release, release-end, on:on'],
    silent: ['in-flight', 'done', 'release, release-end, on:on'],
  },
  'running, off proven': {
    'renews its lease': ['running-power', 'done', 'on:on'],
    'Ready, same boot': ['running-power', 'done', 'on:on'],
    'Ready, new boot': ['running-power', 'final, recovered', 'on:on, run:uncordon'],
    NotReady: ['running-power', 'done', 'on:on'],
    'Ready, then silent': ['running-power', 'done', 'on:on'],
    silent: ['running-power', 'done', 'release, release-end, on:on'],
  },
  'running, release under way': {
    'renews its lease': ['in-flight', 'done', 'release-end, on:on'],
    'Ready, same boot': ['in-flight', 'done', 'release-end, on:on'],
    'Ready, new boot': ['in-flight', 'final, recovered', 'release-end, on:on, run:uncordon'],
    NotReady: ['in-flight', 'done', 'release-end, on:on'],
    'Ready, then silent': ['in-flight', 'done', 'release-end, on:on'],
    silent: ['in-flight', 'done', 'release-end, on:on'],
  },
  'running, released': {
    'renews its lease': ['running-voided', 'error, failed', 'release-end'],
    'Ready, same boot': ['running-voided', 'error, failed', 'release-end'],
    'Ready, new boot': ['running-voided', 'final, recovered', 'release-end, run:uncordon'],
    NotReady: ['running-voided', 'error, failed', 'release-end'],
    'Ready, then silent': ['running-voided', 'error, failed', 'release-end'],
    silent: ['running-power', 'done', 'release-end, on:on'],
  },
  'running, release ended': {
    'renews its lease': ['running-voided', 'error, failed', ''],
    'Ready, same boot': ['running-voided', 'error, failed', ''],
    'Ready, new boot': ['running-power', 'final, recovered', 'on:on, run:uncordon'],
    NotReady: ['running-voided', 'error, failed', ''],
    'Ready, then silent': ['running-voided', 'error, failed', ''],
    silent: ['running-power', 'done', 'on:on'],
  },
  'running, on under way': {
    'renews its lease': ['in-flight', 'done', ''],
    'Ready, same boot': ['in-flight', 'done', ''],
    'Ready, new boot': ['in-flight', 'final, recovered', 'run:uncordon'],
    NotReady: ['in-flight', 'done', ''],
    'Ready, then silent': ['in-flight', 'done', ''],
    silent: ['in-flight', 'done', ''],
  },
  'done, waiting': {
    'renews its lease': ['done-wait', 'done', ''],
    'Ready, same boot': ['done-wait', 'done', ''],
    'Ready, new boot': ['done-wait', 'final, recovered', 'run:uncordon'],
    NotReady: ['done-wait', 'done', ''],
    'Ready, then silent': ['done-wait', 'done', ''],
    silent: ['done-wait', 'done', ''],
  },
  'done, off on purpose': {
    'renews its lease': ['done-off', 'done', ''],
    'Ready, same boot': ['done-off', 'done', ''],
    'Ready, new boot': ['done-off', 'final, recovered', 'run:uncordon'],
    NotReady: ['done-off', 'done', ''],
    'Ready, then silent': ['done-off', 'done', ''],
    silent: ['done-off', 'done', ''],
  },
  'done, recovering': {
    'renews its lease': ['in-flight', 'final, recovered', ''],
    'Ready, same boot': ['in-flight', 'final, recovered', ''],
    'Ready, new boot': ['in-flight', 'final, recovered', ''],
    NotReady: ['in-flight', 'done', ''],
    'Ready, then silent': ['in-flight', 'done', ''],
    silent: ['in-flight', 'final, recovered', ''],
  },
  'error, back-off': {
    'renews its lease': ['error-back-off', 'new', ''],
    'Ready, same boot': ['error-back-off', 'final, recovered', 'run:uncordon'],
    'Ready, new boot': ['error-back-off', 'final, recovered', 'run:uncordon'],
    NotReady: ['error-back-off', 'new', ''],
    'Ready, then silent': ['error-back-off', 'running', 'confirm run:cordon'],
    silent: ['error-back-off', 'running', 'confirm run:cordon'],
  },
  'error, given up': {
    'renews its lease': ['error-used-up', 'error, failed', ''],
    'Ready, same boot': ['error-used-up', 'final, recovered', 'run:uncordon'],
    'Ready, new boot': ['error-used-up', 'final, recovered', 'run:uncordon'],
    NotReady: ['error-used-up', 'error, failed', ''],
    'Ready, then silent': ['error-used-up', 'error, failed', ''],
    silent: ['error-used-up', 'error, failed', ''],
  },
  'final, probation': {
    'renews its lease': ['final-wait', 'final, recovered', ''],
    'Ready, same boot': ['final-wait', 'final, recovered', ''],
    'Ready, new boot': ['final-wait', 'final, recovered', ''],
    NotReady: ['final-wait', 'final, recovered', ''],
    'Ready, then silent': ['final-wait', 'running', 'confirm run:cordon'],
    silent: ['final-probation', 'running', 'confirm run:cordon'],
  },
  'final, later': {
    'renews its lease': ['final-wait', 'final, recovered', ''],
    'Ready, same boot': ['final-wait', 'final, recovered', ''],
    'Ready, new boot': ['final-wait', 'final, recovered', ''],
    NotReady: ['final-wait', 'final, recovered', ''],
    'Ready, then silent': ['final-wait', 'running', 'run:cordon'],
    silent: ['final-again', 'running', 'run:cordon'],
  },
};

describe('a node that changes its mind, in every state and between every two operations', () => {
  const cases = POINTS.flatMap((point) => FLAPS.map((flap): [Point, Flap] => [point, flap]));

  it.each(cases)('%s: %s', (point, flap) => {
    const { row, rests, begins } = outcomeOf(point, flap);
    expect([row, rests, begins]).toEqual(TABLE[point][flap]);
  });

  it('never has anything released, or switched off, once the node has shown life', () => {
    const alive = cases.filter(([point, flap]) => !['silent', 'Ready, then silent'].includes(flap) && point !== 'running, off under way');
    expect(alive).toHaveLength((POINTS.length - 1) * (FLAPS.length - 2));
    for (const [point, flap] of alive) {
      const begun = TABLE[point][flap][2].split(', ');
      expect([point, flap, begun.filter((operation) => operation === 'release' || operation.startsWith('off:'))]).toEqual([point, flap, []]);
    }
  });
});
