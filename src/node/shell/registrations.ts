import { parseKeys, persistIn, persistRegister, plainKey } from '../../domain/scsi-registration.ts';
import type { Registrations } from '../../ports/node-daemon.ts';
import { whyNothing } from '../checks/children.ts';
import type { Children } from '../checks/children.ts';

export interface RegistrationOptions {
  devices: readonly string[];
  key: string;
  isMultipath: boolean;
  /** Absent: where sg3-utils or multipath-tools put it. */
  program?: string;
}

const READ_MS = 5_000;
const REGISTER_MS = 10_000;
/** A device tells once of each reset and preemption that came before (unit attention), and answers the next time. */
const TRIES = 3;

/**
 * The node's registration by `sg_persist` or `mpathpersist`: one process for one device, which is gone when it was killed. A fence agent starts processes of its own,
 * which would go on without it.
 */
export class PersistRegistrations implements Registrations {
  readonly key: string;
  readonly devices: readonly string[];
  readonly #children: Pick<Children, 'run'>;
  readonly #isMultipath: boolean;
  readonly #program: string;

  constructor(children: Pick<Children, 'run'>, { devices, key, isMultipath, program }: RegistrationOptions) {
    this.#children = children;
    this.devices = devices;
    this.key = plainKey(key);
    this.#isMultipath = isMultipath;
    this.#program = program ?? (isMultipath ? '/sbin/mpathpersist' : '/usr/bin/sg_persist');
  }

  async read(): ReturnType<Registrations['read']> {
    const all = await Promise.all(this.devices.map(async (device) => this.#readOne(device)));
    const found = (['unknown', 'missing', 'registered'] as const).find((one) => all.some((device) => device.found === one)) ?? 'unknown';
    return { found, detail: all.map(({ detail }) => detail).join('; ') };
  }

  async register(): Promise<{ detail: string }> {
    const words = await Promise.all(
      this.devices.map(async (device) => {
        const { why } = await this.#run(device, persistRegister(device, this.key, this.#isMultipath), REGISTER_MS);
        return `${device}: ${why ?? 'registered, as it says'}`;
      }),
    );
    return { detail: words.join('; ') };
  }

  async #readOne(device: string): ReturnType<Registrations['read']> {
    const { output, why } = await this.#run(device, persistIn(device, 'keys', this.#isMultipath), READ_MS);
    const registered = why === undefined ? parseKeys(output) : undefined;
    if (registered === undefined) return { found: 'unknown', detail: `${device}: ${why ?? 'the list of keys is not whole'}` };
    const isThere = registered.keys.includes(this.key);
    return { found: isThere ? 'registered' : 'missing', detail: `${device}: ${isThere ? 'registered' : 'not registered'}` };
  }

  /** One process for each device at a time, also after a restart of this daemon: what is there settles nothing. */
  async #run(device: string, words: readonly string[], deadlineMs: number): Promise<{ output: string; why?: string }> {
    let why = '';
    for (let tries = 1; tries <= TRIES; tries += 1) {
      const result = await this.#children.run(device, this.#program, words, deadlineMs);
      if (result.kind !== 'ended') return { output: '', why: whyNothing(this.#program, result) ?? '' };
      if (result.code === 0) return { output: result.output };
      why = `${this.#program} ended with ${result.code ?? 'a signal'}: ${(result.errors + result.output).trim().slice(0, 200)}`;
    }
    return { output: '', why };
  }
}
