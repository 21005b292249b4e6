import type { PowerState } from '../../src/ports/agents.ts';
import type { Call } from '../shared/call.ts';
import { actionsIn, endOfStop, eventsIn, freshEvacuation, lastStop, type RecordedAction } from './actions.ts';
import { wordsOf, type NovaApi } from './nova.ts';
import type { Server } from './server.ts';

const REMEMBERED_MAX = 1_024;

/** Our own request that nova took, until its end is known. */
interface Told {
  wanted: 'on' | 'off';
  requestId: string;
  failed?: string;
}

interface Verdict {
  state: PowerState;
  why?: string;
}

/**
 * Whether a server that shows itself as off is believed. Nova keeps that in a database, and the hypervisor is the authority: it has to be known to answer
 * (`host_status=UP`), or the last thing that was done to the server has to be a stop that its own hypervisor recorded as carried out. Nova leaves
 * `vm_state=stopped` by a start alone, which shows as `task_state` before it begins.
 */
export class Proofs {
  readonly #nova: NovaApi;
  readonly #told = new Map<string, Told>();
  /** What was believed, by server; as long as it shows the same. */
  readonly #believed = new Map<string, string>();

  constructor(nova: NovaApi) {
    this.#nova = nova;
  }

  /** Of a server that says SHUTOFF in every member. */
  async of(call: Call, server: Server): Promise<Verdict> {
    const seen = JSON.stringify(server);
    if (this.#believed.get(server.id) === seen) return { state: 'off' };
    const verdict = await this.#verdict(call, server);
    if (verdict.state === 'off' && verdict.why === undefined) remember(this.#believed, server.id, seen);
    return verdict;
  }

  told(id: string, told: Told): void {
    remember(this.#told, id, told);
  }

  forget(id: string): void {
    this.#told.delete(id);
    this.#believed.delete(id);
  }

  /** How our own stop or start ended that was accepted and failed. Asked where nothing is under way and the state is not the wished one. */
  async failure(call: Call, { id, taskState, project }: Server, state: PowerState): Promise<string | undefined> {
    const told = this.#told.get(id);
    if (told === undefined || taskState !== null || told.wanted === state) return undefined;
    if (told.failed !== undefined) return told.failed;
    const { body } = await this.#nova.peek(call, `${actionsPath(id)}/${encodeURIComponent(told.requestId)}`);
    const failed = eventsIn(body, project)?.find(({ isFinished, result }) => isFinished && result !== 'Success');
    if (failed === undefined) return undefined;
    const verb = told.wanted === 'off' ? 'os-stop' : 'os-start';
    told.failed = `our ${verb} was accepted and ended with ${failed.result ?? 'no result'} (${failed.event}, ${told.requestId})`;
    return told.failed;
  }

  async #verdict(call: Call, server: Server): Promise<Verdict> {
    const isUp = server.hostStatus === 'UP';
    const limit = this.#nova.version >= 58 ? '?limit=100' : '';
    const answer = await this.#nova.peek(call, `${actionsPath(server.id)}${limit}`);
    const actions = answer.status === 200 ? actionsIn(answer.body) : undefined;
    if (actions === undefined) {
      const hidden = `its actions are not shown (HTTP ${answer.status}: ${wordsOf(answer)})`;
      // Only a refusal is an answer of nova's about actions; anything else says that it cannot tell now.
      if (isUp && answer.status === 403) return { state: 'off', why: `${hidden}: an evacuation could not be seen` };
      return {
        state: 'unknown',
        why: `${hidden}, and ${isUp ? 'an evacuation could not be seen' : 'host_status is not shown: nobody says that its hypervisor stopped it'}`,
      };
    }
    if (freshEvacuation(actions, this.#nova.time.nowMs) !== undefined)
      return { state: 'unknown', why: 'it was evacuated within the last 24 hours: what ran on its old hypervisor may run on' };
    return isUp ? { state: 'off' } : this.#byItsStop(call, server, actions);
  }

  async #byItsStop(call: Call, { id, hostId, project }: Server, actions: readonly RecordedAction[]): Promise<Verdict> {
    const stop = lastStop(actions);
    if ('instead' in stop) return { state: 'unknown', why: `the last thing that nova did to it is ${stop.instead}, not a stop` };
    const answer = await this.#nova.peek(call, `${actionsPath(id)}/${encodeURIComponent(stop.requestId)}`);
    const events = answer.status === 200 ? eventsIn(answer.body, project) : undefined;
    if (events === undefined) return { state: 'unknown', why: 'neither host_status nor the events of its actions are shown to this user' };
    const end = endOfStop(events, hostId);
    if (end === 'carried out') return { state: 'off' };
    if (end === 'under way') return { state: 'pending', why: `its hypervisor has not said that the stop ${stop.requestId} is done` };
    return { state: 'unknown', why: `the stop ${stop.requestId} ${end.failed}` };
  }
}

function actionsPath(id: string): string {
  return `/servers/${encodeURIComponent(id)}/os-instance-actions`;
}

function remember<T>(map: Map<string, T>, id: string, value: T): void {
  const [oldest] = map.keys();
  if (map.size >= REMEMBERED_MAX && oldest !== undefined) map.delete(oldest);
  map.set(id, value);
}
