import { describe, expect, it } from 'vitest';
import { at, POINTS } from './testing/flaps.ts';
import type { Point } from './testing/flaps.ts';
import { courseOf, INTERVENTIONS } from './testing/interventions.ts';
import type { Intervention } from './testing/interventions.ts';

/** The row that decides right after it; where the fence stands 160 s later; what was begun meanwhile; what of ours is left to take back. */
type Line = readonly [row: string, rests: string, begins: string, left: string];

const TABLE: Readonly<Record<Point, Readonly<Record<Intervention, Line>>>> = {
  'new, delayed': {
    stop: ['stopped', 'new', '', ''],
    'stop, lifted': ['stopped', 'running', 'run:cordon', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', ''],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', ''],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', '', ''],
    'deleted under a stop': ['deleted-by-hand', 'gone', '', ''],
  },
  'new, isolating': {
    stop: ['in-flight', 'new', '', 'cordon'],
    'stop, lifted': ['in-flight', 'running', '', 'cordon'],
    'Node deleted': ['in-flight', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['in-flight', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['in-flight', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['in-flight', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['in-flight', 'new', '', 'cordon'],
  },
  'running, delayed': {
    stop: ['stopped', 'running', '', 'cordon'],
    'stop, lifted': ['stopped', 'running', '', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['stopped', 'running', '', 'cordon'],
  },
  'running, off under way': {
    stop: ['in-flight', 'running', '', 'cordon, off'],
    'stop, lifted': ['in-flight', 'done', 'confirm off:off, release, release-end, on:on', 'cordon'],
    'Node deleted': ['in-flight', 'final, node-gone', '', 'cordon, off'],
    'other UID, Ready': ['in-flight', 'final, node-gone', '', 'cordon, off'],
    'other UID, silent': ['in-flight', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['in-flight', 'gone', 'run:undo-cordon, on:off', ''],
    'deleted under a stop': ['in-flight', 'running', '', 'cordon, off'],
  },
  'running, off proven': {
    stop: ['stopped', 'running', '', 'cordon, off'],
    'stop, lifted': ['stopped', 'done', 'confirm off:off, release, release-end, on:on', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon, on:off', ''],
    'deleted under a stop': ['stopped', 'running', '', 'cordon, off'],
  },
  'running, release under way': {
    stop: ['in-flight', 'running', '', 'cordon, taint, off'],
    'stop, lifted': ['in-flight', 'done', 'release-end, on:on', 'cordon'],
    'Node deleted': ['in-flight', 'final, node-gone', '', 'cordon, taint, off'],
    'other UID, Ready': ['in-flight', 'final, node-gone', '', 'cordon, taint, off'],
    'other UID, silent': ['in-flight', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['in-flight', 'gone', 'release-end, run:undo-cordon, on:off', ''],
    'deleted under a stop': ['in-flight', 'running', '', 'cordon, taint, off'],
  },
  'running, released': {
    stop: ['stopped', 'running', '', 'cordon, taint, off'],
    'stop, lifted': ['stopped', 'done', 'release-end, on:on', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon, taint, off'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon, taint, off'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'release-end, run:undo-cordon, on:off', ''],
    'deleted under a stop': ['stopped', 'running', '', 'cordon, taint, off'],
  },
  'running, release ended': {
    stop: ['stopped', 'running', '', 'cordon, off'],
    'stop, lifted': ['stopped', 'done', 'on:on', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon, on:off', ''],
    'deleted under a stop': ['stopped', 'running', '', 'cordon, off'],
  },
  'running, on under way': {
    stop: ['in-flight', 'running', '', 'cordon'],
    'stop, lifted': ['in-flight', 'done', '', 'cordon'],
    'Node deleted': ['in-flight', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['in-flight', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['in-flight', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['in-flight', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['in-flight', 'running', '', 'cordon'],
  },
  'done, waiting': {
    stop: ['stopped', 'done', '', 'cordon'],
    'stop, lifted': ['stopped', 'done', '', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['stopped', 'done', '', 'cordon'],
  },
  'done, off on purpose': {
    stop: ['stopped', 'done', '', 'cordon, off'],
    'stop, lifted': ['stopped', 'done', '', 'cordon, off'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon, off'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon, on:off', ''],
    'deleted under a stop': ['stopped', 'done', '', 'cordon, off'],
  },
  'done, recovering': {
    stop: ['in-flight', 'done', '', ''],
    'stop, lifted': ['in-flight', 'done', '', ''],
    'Node deleted': ['in-flight', 'final, node-gone', '', ''],
    'other UID, Ready': ['in-flight', 'final, node-gone', '', ''],
    'other UID, silent': ['in-flight', 'final, node-gone', '', ''],
    'deleted by hand': ['in-flight', 'gone', '', ''],
    'deleted under a stop': ['in-flight', 'gone', '', ''],
  },
  'error, back-off': {
    stop: ['stopped', 'error', '', 'cordon'],
    'stop, lifted': ['stopped', 'running', 'confirm run:cordon', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['stopped', 'error', '', 'cordon'],
  },
  'error, given up': {
    stop: ['stopped', 'error, failed', '', 'cordon'],
    'stop, lifted': ['stopped', 'error, failed', '', 'cordon'],
    'Node deleted': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, Ready': ['node-gone', 'final, node-gone', '', 'cordon'],
    'other UID, silent': ['node-gone', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', 'run:undo-cordon', ''],
    'deleted under a stop': ['stopped', 'error, failed', '', 'cordon'],
  },
  'final, probation': {
    stop: ['final-probation', 'error', '', ''],
    'stop, lifted': ['final-probation', 'running', 'confirm run:cordon', ''],
    'Node deleted': ['final-wait', 'final, recovered', '', ''],
    'other UID, Ready': ['final-wait', 'final, recovered', '', ''],
    'other UID, silent': ['final-again', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', '', ''],
    'deleted under a stop': ['deleted-by-hand', 'gone', '', ''],
  },
  'final, later': {
    stop: ['final-again', 'new', '', ''],
    'stop, lifted': ['final-again', 'running', 'run:cordon', 'cordon'],
    'Node deleted': ['final-wait', 'final, recovered', '', ''],
    'other UID, Ready': ['final-wait', 'final, recovered', '', ''],
    'other UID, silent': ['final-again', 'running', 'run:cordon', 'cordon'],
    'deleted by hand': ['deleted-by-hand', 'gone', '', ''],
    'deleted under a stop': ['deleted-by-hand', 'gone', '', ''],
  },
};

describe('people stop a fence, delete it or its Node, in every state and between every two operations', () => {
  const cases = POINTS.flatMap((point) => INTERVENTIONS.map((intervention): [Point, Intervention] => [point, intervention]));

  it.each(cases)('%s: %s', (point, intervention) => {
    const { row, rests, begins, left } = courseOf(point, intervention);
    expect([row, rests, begins, left]).toEqual(TABLE[point][intervention]);
  });

  it.each(POINTS)('begins nothing while a stop stands, and undoes nothing: %s', (point) => {
    for (const intervention of ['stop', 'deleted under a stop'] as const)
      expect([intervention, courseOf(point, intervention).begins]).toEqual([intervention, '']);
  });

  it.each(POINTS)('switches nothing for a Node that is gone or has another UID: %s', (point) => {
    for (const intervention of ['Node deleted', 'other UID, Ready'] as const) {
      const { begins, rests } = courseOf(point, intervention);
      expect([intervention, begins]).toEqual([intervention, '']);
      expect(rests).toMatch(/^final/);
    }
  });

  it.each(POINTS)('lets a NodeFence that was deleted by hand go only when nothing of ours is left: %s', (point) => {
    const { rests, begins } = courseOf(point, 'deleted by hand');
    expect(rests).toBe('gone');
    const { restore } = at(point).status;
    const due = [
      ...(restore?.taints !== undefined ? ['release-end'] : []),
      ...(restore?.cordoned === true && point !== 'done, recovering' ? ['run:undo-cordon'] : []),
      ...(restore?.edges !== undefined && point !== 'running, on under way' ? ['on:off'] : []),
    ];
    expect(begins.split(', ')).toEqual(expect.arrayContaining(due));
  });

  it('has fences of which each of cordon, taint and edge is left', () => {
    const kinds = POINTS.flatMap((point) => Object.keys(at(point).status.restore ?? {}));
    expect(kinds).toEqual(expect.arrayContaining(['cordoned', 'taints', 'edges']));
  });

  it('says of a Node that is gone what it has left off, and not a taint that went with it', () => {
    const model = at('running, released');
    model.node = undefined;
    model.step();
    expect(model.status.outcome).toBe('node-gone');
    expect(model.status.message).toContain('LeftOff: off (redfish bmc');
    expect(model.status.message).not.toContain('taint');
  });
});
