import { beforeEach, describe, expect, it } from 'vitest';

import { AgentError } from '../../src/ports/agents.ts';
import type { ActionAgent } from '../../src/ports/agents.ts';
import { jobRun } from './definition.ts';
import { JobScene, NAMESPACE } from '../../src/testbed/objects/job-scene.ts';
import { reach } from '../../test/reach.ts';

describe('anything by a Job', () => {
  let scene: JobScene;
  let agent: ActionAgent;
  let isDone: boolean;

  beforeEach(async () => {
    scene = await JobScene.open(reach);
    const created = await jobRun.create({ cluster: scene.world.seen, clock: scene.clock, namespace: NAMESPACE });
    if (created.kind !== 'action') throw new Error('not an action agent');
    agent = created;
    isDone = false;
    scene.program = ({ arguments: { action } }) =>
      action === 'run' ? { code: 0, log: 'the queue is drained\n', afterMs: 1_000, work: () => (isDone = true) } : { code: isDone ? 0 : 2, log: '' };
  });

  it('is run once, and done when its own status says so', async () => {
    expect(await scene.until(agent.confirm(scene.target()))).toBe(false);
    const outcome = await scene.until(agent.run(scene.target()));
    expect(outcome).toMatchObject({ result: 'accepted', detail: expect.stringContaining('the queue is drained') as string });
    expect(await scene.until(agent.confirm(scene.target()))).toBe(true);
    expect(scene.jobController.runs.map((run) => run.arguments['action'])).toEqual(['status', 'run', 'status', 'status']);
  });

  it('is not done because a program ended well', async () => {
    scene.program = ({ arguments: { action } }) => ({ code: action === 'run' ? 0 : 2, log: 'all is well\n' });
    await expect(scene.until(agent.run(scene.target()))).rejects.toMatchObject({
      kind: 'Refused',
      message: expect.stringContaining('not done') as string,
    });
  });

  it('fails in the words of the program', async () => {
    scene.program = () => ({ code: 3, log: 'no such queue\n' });
    const error: unknown = await scene.until(agent.run(scene.target())).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(AgentError);
    expect(error).toMatchObject({ kind: 'Refused', message: expect.stringContaining('exit code 3: no such queue') as string });
    expect(scene.jobController.runs.length).toBe(1);
    await expect(scene.until(agent.confirm(scene.target()))).rejects.toMatchObject({ kind: 'Unreachable' });
  });

  it('that a crash left is waited for before it is asked whether it is done', async () => {
    const first = agent.run(scene.target());
    await scene.step();
    await scene.step();
    expect(await scene.until(agent.confirm(scene.target()))).toBe(true);
    expect(scene.jobController.runs.filter((run) => run.arguments['action'] === 'run').length).toBe(1);
    await scene.until(first);
  });

  it('is not known to be done while it still goes on', async () => {
    scene.program = () => ({ code: 0, log: '', afterMs: 60_000 });
    void agent.run(scene.target({ deadlineMs: 100_000 })).catch(() => undefined);
    await scene.step();
    await scene.step();
    await expect(scene.until(agent.confirm(scene.target()))).rejects.toMatchObject({ message: expect.stringContaining('is not over yet') as string });
  });
});
