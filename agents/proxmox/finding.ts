import type { Clock } from '../../src/ports/clock.ts';
import type { Call } from '../shared/call.ts';
import { deviceMessage } from '../shared/ssh/words.ts';
import { WebFailure } from '../shared/web/web-client.ts';
import { PveRefusal, type PveApi } from './api.ts';
import { configuredIn, staleness, type Listed } from './machine.ts';
import { isSameUUID, isUUID, isVmid } from './parameters.ts';

/** More machines than this are not looked through for a UUID. */
const MACHINES_MAX = 1_000;
const SIDE_BY_SIDE = 8;
/** A copy or a restored machine may come to bear a UUID, also under a number that another one had: each is looked at anew after this. */
const LOOKED_MS = 60_000;
/** The same for a probe, by which nothing is decided: it costs a request for each machine of the cluster. */
const PROBED_MS = 600_000;

/** The path of a machine on the host that has it. */
export function pathOf({ host, vmid }: Pick<Listed, 'host' | 'vmid'>): string {
  return `/nodes/${encodeURIComponent(host)}/qemu/${vmid}`;
}

export function configPath(machine: Pick<Listed, 'host' | 'vmid'>): string {
  // Without it, changes that wait for the next start are shown as if they were made.
  return `${pathOf(machine)}/config?current=1`;
}

/** Which machine a plug names: its number, its name, or the UUID of its firmware, by which the API does not look. */
export class Finder {
  readonly #api: PveApi;
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  /** The UUID of each machine as it was looked at last, by its number. */
  readonly #looked = new Map<string, { uuid: string | undefined; atMs: number }>();

  constructor(api: PveApi, clock: Pick<Clock, 'monotonicMs'>) {
    this.#api = api;
    this.#clock = clock;
  }

  /** Rejects where it is not one virtual machine: what is not found is not off. */
  async find(call: Call, machines: readonly Listed[], status: unknown): Promise<Listed> {
    const { plug } = call.target;
    const found = isUUID(plug)
      ? await this.#byUUID(call, machines, status)
      : machines.filter(({ vmid, name }) => (isVmid(plug) ? vmid : name) === plug);
    const [machine] = found;
    if (machine === undefined)
      throw call.error(
        'Misconfigured',
        `there is no machine ${plug}, or ${await this.#api.user(call)} may not see it (VM.Audit): what is not found is not off`,
      );
    if (found.length > 1)
      throw call.error('Refused', `${found.length} machines are ${plug} (${found.map(({ vmid }) => vmid).join(', ')}): name one by its number`);
    if (machine.kind !== 'qemu')
      throw call.error(
        'Misconfigured',
        `${plug} is a container (${machine.kind}), which shares the kernel of its host: only virtual machines are switched`,
      );
    if (machine.isTemplate) throw call.error('Misconfigured', `${plug} is a template, which never runs`);
    return machine;
  }

  /** Its UUID was seen to be another one. */
  forget(vmid: string): void {
    this.#looked.delete(vmid);
  }

  /** A backup that was restored beside its machine has the same UUID: all of them are looked at, and none is taken while one is hidden. */
  async #byUUID(call: Call, machines: readonly Listed[], status: unknown): Promise<readonly Listed[]> {
    const { plug } = call.target;
    const candidates = machines.filter(({ kind, isTemplate }) => kind === 'qemu' && !isTemplate);
    if (candidates.length > MACHINES_MAX)
      throw call.error('Misconfigured', `there are more than ${MACHINES_MAX} machines: name it by its number instead of its UUID`);
    const there = new Set(candidates.map(({ vmid }) => vmid));
    for (const vmid of this.#looked.keys()) if (!there.has(vmid)) this.#looked.delete(vmid);
    const found: Listed[] = [];
    const hidden: Listed[] = [];
    const left = candidates.values();
    const look = async (): Promise<void> => {
      for (const machine of left) {
        const looked = await this.#look(call, machine, staleness(status, machine.host)?.isAway === true);
        if (looked === undefined) hidden.push(machine);
        else if (isSameUUID(looked.uuid, plug)) found.push(machine);
      }
    };
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, look));
    if (hidden.length > 0 && found.length < 2) throw call.error('Unreachable', hiddenWords(plug, found[0], hidden));
    return found;
  }

  /** What was seen last of one that cannot be looked at now, such as on a host that just went away; undefined: nothing was. */
  async #look(call: Call, machine: Listed, isAway: boolean): Promise<{ uuid: string | undefined } | undefined> {
    const looked = this.#looked.get(machine.vmid);
    const staysMs = call.target.isProbe === true ? PROBED_MS : LOOKED_MS;
    const atMs = this.#clock.monotonicMs();
    if (isAway || (looked !== undefined && atMs - looked.atMs < staysMs)) return looked;
    try {
      const { uuid } = configuredIn(await this.#api.get(call, configPath(machine)));
      this.#looked.set(machine.vmid, { uuid, atMs });
      return { uuid };
    } catch (error) {
      if (error instanceof PveRefusal && error.status >= 500) return looked;
      if (error instanceof WebFailure && call.ended === undefined) return looked;
      throw error;
    }
  }
}

/** One that was found may be the copy, and one that is hidden the machine: what the copy shows proves nothing. */
function hiddenWords(plug: string, found: Listed | undefined, hidden: readonly Listed[]): string {
  const names = hidden.map(({ vmid, host }) => `${vmid} on ${host}`).join(', ');
  const is = found === undefined ? 'no machine that can be looked at has' : `${found.vmid} has`;
  return deviceMessage(
    `${is} the UUID ${plug}, and others that cannot be looked at may have it: name it by its number instead (hidden: ${names})`,
    [],
  );
}
