import { createHash } from 'node:crypto';

import type { Clock } from '../../../src/ports/clock.ts';
import { ANY_ADDRESS, type AddressCheck } from '../address/address-check.ts';
import { SnmpClient } from '../snmp/client.ts';
import type { SnmpSettings } from '../snmp/settings.ts';

const IDLE_CLOSE_MS = 45_000;

interface Kept {
  client: SnmpClient;
  users: number;
  cancelIdle: () => void;
}

/** One client for each device and account, kept for 45 s after its last use: SNMP 3 need not ask for the device's clock each time. */
export class SnmpClients {
  readonly #clock: Clock;
  readonly #check: AddressCheck;
  readonly #kept = new Map<string, Kept>();

  constructor(clock: Clock, check: AddressCheck = ANY_ADDRESS) {
    this.#clock = clock;
    this.#check = check;
  }

  async run<T>(settings: SnmpSettings, work: (client: SnmpClient) => Promise<T>): Promise<T> {
    const key = createHash('sha256').update(JSON.stringify(settings)).digest('hex');
    const kept = this.#kept.get(key) ?? { client: new SnmpClient(settings, this.#clock, this.#check), users: 0, cancelIdle: () => undefined };
    this.#kept.set(key, kept);
    kept.cancelIdle();
    kept.users += 1;
    try {
      return await work(kept.client);
    } finally {
      kept.users -= 1;
      if (kept.users === 0 && this.#kept.get(key) === kept) {
        kept.cancelIdle = this.#clock.after(IDLE_CLOSE_MS, () => {
          this.#kept.delete(key);
          void kept.client.close();
        });
      } else if (kept.users === 0) {
        await kept.client.close();
      }
    }
  }

  /** Never rejects; a client may be made again. */
  async close(): Promise<void> {
    const all = [...this.#kept.values()];
    this.#kept.clear();
    for (const { cancelIdle } of all) cancelIdle();
    await Promise.all(all.map(({ client }) => client.close()));
  }
}
