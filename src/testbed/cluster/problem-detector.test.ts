import { describe, expect, it } from 'vitest';
import { ManualClock } from '../../runtime/manual-clock.ts';
import type { ApiRequest } from '../../ports/api-transport.ts';
import { WorldApi } from './api.ts';
import { ProblemDetector } from './problem-detector.ts';

interface Posted {
  type: string;
  status: string;
  reason: string;
  lastHeartbeatTime: string;
  lastTransitionTime: string;
}

function open(): { clock: ManualClock; detector: ProblemDetector; posts: Posted[][] } {
  const clock = new ManualClock();
  const posts: Posted[][] = [];
  const transport = {
    request: ({ body }: ApiRequest) => {
      posts.push((body as { status: { conditions: Posted[] } }).status.conditions);
      return Promise.resolve({ status: 200, body: {}, headers: {} });
    },
    watch: () => () => undefined,
  };
  const options = { node: 'a', conditions: ['KernelDeadlock', 'ReadonlyFilesystem'], heartbeatMs: 10_000 };
  return { clock, posts, detector: new ProblemDetector(new WorldApi(transport), clock, { next: () => 0.5, uuid: () => '' }, options) };
}

const shown = (post: Posted[] | undefined): string[] => (post ?? []).map(({ type, status }) => `${type} ${status}`);

describe('a node-problem-detector', () => {
  it('begins by posting that all is well, and renews what it has posted', async () => {
    const { clock, detector, posts } = open();
    detector.start();
    await clock.advance(25_000);
    expect(posts.map(shown)).toEqual(Array.from({ length: 3 }, () => ['KernelDeadlock False', 'ReadonlyFilesystem False']));
    expect(new Set(posts.map(([first]) => first?.lastTransitionTime)).size).toBe(1);
    expect(new Set(posts.map(([first]) => first?.lastHeartbeatTime)).size).toBe(3);
  });

  it('posts what it finds at once, and never takes it back', async () => {
    const { clock, detector, posts } = open();
    detector.start();
    await clock.advance(1_000);
    detector.find('KernelDeadlock');
    await clock.advance(100);
    expect(shown(posts.at(-1))).toEqual(['KernelDeadlock True', 'ReadonlyFilesystem False']);
    await clock.advance(60_000);
    expect(shown(posts.at(-1))).toEqual(['KernelDeadlock True', 'ReadonlyFilesystem False']);
    expect(new Set(posts.slice(1).map(([first]) => first?.lastTransitionTime)).size).toBe(1);
  });

  it('that is started anew posts that all is well, with new transition times', async () => {
    const { clock, detector, posts } = open();
    detector.start();
    detector.find('KernelDeadlock');
    await clock.advance(5_000);
    detector.start();
    await clock.advance(100);
    expect(shown(posts.at(-1))).toEqual(['KernelDeadlock False', 'ReadonlyFilesystem False']);
    expect(posts.at(-1)?.[1]?.lastTransitionTime).not.toBe(posts[0]?.[1]?.lastTransitionTime);
  });

  it('that dies leaves what it has posted, and renews nothing', async () => {
    const { clock, detector, posts } = open();
    detector.start();
    await clock.advance(100);
    detector.stop();
    await clock.advance(60_000);
    expect(posts).toHaveLength(1);
  });
});
