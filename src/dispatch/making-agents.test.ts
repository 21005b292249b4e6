import { describe, expect, it } from 'vitest';
import type { Agent, AgentRegistry, PowerState } from '../ports/agents.ts';
import { ManualClock } from '../runtime/manual-clock.ts';
import { Dispatcher } from './dispatcher.ts';
import { ACCEPTED, Harness, methodOf } from './testing/harness.ts';

function switched(): Agent {
  let state: PowerState = 'on';
  return {
    kind: 'power',
    read: () => Promise.resolve({ state, detail: `PowerState=${state}`, identity: 'verified' }),
    set: (target, wanted) => {
      target.beforeSend();
      state = wanted;
      return Promise.resolve(ACCEPTED);
    },
  };
}

describe('an agent that is not made for long', () => {
  it('ends its run, and serves the next one once it is made: a disk that hangs holds up no fence in silence, nor the end of the process', async () => {
    const harness = new Harness(new ManualClock());
    const made = Promise.withResolvers<Agent>();
    const registry = { find: () => ({ name: 'power', create: () => made.promise }), names: () => ['power'] } as unknown as AgentRegistry;
    const dispatcher = new Dispatcher(registry, { cluster: {} as never, clock: harness.clock });
    const run = () => harness.ended(dispatcher.run(harness.job(methodOf('bmc', 'power'), 'off')));
    expect(await run()).toMatchObject({ result: 'timeout', message: expect.stringContaining('no complete answer within') as string });
    await harness.ended(dispatcher.close());
    made.resolve(switched());
    expect((await run()).result).toBe('succeeded');
  });
});

describe('an agent that could not be made', () => {
  it('is made again for the next run, and then kept', async () => {
    const harness = new Harness(new ManualClock());
    const agent = switched();
    let made = 0;
    const create = (): Promise<Agent> => {
      made += 1;
      return made === 1 ? Promise.reject(new Error('EMFILE: too many open files')) : Promise.resolve(agent);
    };
    const registry = { find: () => ({ name: 'power', create }), names: () => ['power'] } as unknown as AgentRegistry;
    const dispatcher = new Dispatcher(registry, { cluster: {} as never, clock: harness.clock });
    const run = () => harness.ended(dispatcher.run(harness.job(methodOf('bmc', 'power'), 'off')));
    expect(await run()).toMatchObject({ message: expect.stringContaining('EMFILE') as string });
    expect((await run()).result).toBe('succeeded');
    expect((await run()).result).toBe('succeeded');
    expect(made).toBe(2);
  });
});
