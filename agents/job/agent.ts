import type { ActionAgent, AgentContext, Outcome, PowerAgent, Reading, Target } from '../../src/ports/agents.ts';
import { stateIn } from './state-in.ts';
import { JobRunner } from './runner.ts';
import { describeEnd } from './session.ts';
import type { Ended, JobSession } from './session.ts';

const DONE_CODE = 0;
const NOT_DONE_CODE = 2;

/** Power by Jobs of the admin's. How the Job of a set ends decides nothing: each read is a Job of its own, in a fresh pod. */
export class JobPowerAgent implements PowerAgent {
  readonly kind = 'power';
  readonly #runner: JobRunner;

  constructor(context: AgentContext) {
    this.#runner = new JobRunner(context);
  }

  read(target: Target): Promise<Reading<'on' | 'off' | 'pending' | 'unknown'>> {
    return this.#runner.read(target, 'Job action=status', async (session) => {
      // Before the status: what is over by then did its work before it.
      const before = await session.unfinished();
      const ended = await session.status();
      const { outcome } = ended;
      if (outcome.state !== 'exited') throw failure(session, ended);
      const state = stateIn(ended.tail, outcome.code);
      if (state === 'unknown') return { state, detail: describeEnd(ended), identity: 'unverified' };
      const said = await Promise.all([session.said('off'), session.said('on')]);
      const detail = [`Status: ${state.toUpperCase()}`, ...said].filter((message) => message !== '').join('; ');
      const opposite = before.find(({ action }) => action !== state);
      if (opposite === undefined) return { state, detail, identity: 'unverified' };
      return { state: 'pending', detail: `${detail}; Job ${opposite.name} (${opposite.action}) may still act`, identity: 'unverified' };
    });
  }

  set(target: Target, state: 'on' | 'off'): Promise<Outcome> {
    return this.#runner.change(target, `Job action=${state}`, async (session) => {
      for (const other of await session.unfinished()) if (other.action !== state) await session.takeBack(other);
      return outcomeOf(session, await session.change(state));
    });
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

/** Whatever else a Job of the admin's does; done is what its own `status` calls done, in a fresh pod. */
export class JobActionAgent implements ActionAgent {
  readonly kind = 'action';
  readonly #runner: JobRunner;

  constructor(context: AgentContext) {
    this.#runner = new JobRunner(context);
  }

  async run(target: Target): Promise<Outcome> {
    const { clock } = this.#runner;
    const endsAtMs = clock.monotonicMs() + target.deadlineMs;
    const ended = await this.#runner.change(target, 'Job action=run', async (session) => {
      const done = await session.change('run');
      const { outcome } = done;
      if (outcome.state === 'exited' && outcome.code === DONE_CODE) return done;
      throw outcome.state === 'exited' ? session.error('Refused', describeEnd(done)) : failure(session, done);
    });
    const isDone = await this.confirm({ ...target, deadlineMs: endsAtMs - clock.monotonicMs() });
    if (isDone) return { result: 'accepted', detail: describeEnd(ended) };
    return this.#runner.read(target, 'Job action=run', (session) =>
      Promise.reject(session.error('Refused', `${describeEnd(ended)}; its status says: not done`)),
    );
  }

  confirm(target: Target): Promise<boolean> {
    return this.#runner.read(target, 'Job action=status', async (session) => {
      const [open] = await session.unfinished();
      if (open !== undefined) throw session.error('Unreachable', `Job ${open.name} is not over yet`);
      const ended = await session.status();
      const { outcome } = ended;
      if (outcome.state !== 'exited') throw failure(session, ended);
      if (outcome.code === DONE_CODE) return true;
      if (outcome.code === NOT_DONE_CODE) return false;
      throw session.error('Unreachable', describeEnd(ended));
    });
  }

  close(): Promise<void> {
    return this.#runner.close();
  }
}

function outcomeOf(session: JobSession, ended: Ended): Outcome {
  const { outcome } = ended;
  if (outcome.state === 'exited') return { result: outcome.code === DONE_CODE ? 'accepted' : 'unclear', detail: describeEnd(ended) };
  if (!outcome.hasBegun || (outcome.state === 'failed' && outcome.kind === 'Refused')) throw failure(session, ended);
  return { result: 'unclear', detail: `${describeEnd(ended)}; it is deleted, and may still act` };
}

function failure(session: JobSession, ended: Ended): Error {
  const { outcome } = ended;
  return session.error(
    outcome.state === 'failed' ? outcome.kind : 'Timeout',
    outcome.state === 'going' ? `${describeEnd(ended)}; it was not done in time` : describeEnd(ended),
  );
}
