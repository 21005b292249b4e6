import type { BmcFaults } from '../../bmc/faults.ts';
import type { Clock } from '../../../../ports/clock.ts';
import type { Random } from '../../../../ports/random.ts';

/** The network before a BMC, with what is wrong with it: datagrams are lost, come twice or late, or never. */
export class IpmiWire {
  readonly #clock: Pick<Clock, 'after'>;
  readonly #random: Pick<Random, 'next'>;

  constructor(clock: Pick<Clock, 'after'>, random: Pick<Random, 'next'>) {
    this.#clock = clock;
    this.#random = random;
  }

  /** Does a datagram from outside arrive at the BMC? */
  lets(faults: BmcFaults, state: 'on' | 'off'): boolean {
    if (faults.isSilent === true || (faults.diesWithHost === true && state === 'off')) return false;
    return !this.#happens(faults.drops);
  }

  /** Carries an answer out: not at all, once or twice, at once or late. */
  carry(faults: BmcFaults, send: () => void): void {
    if (this.#happens(faults.drops)) return;
    const sendAll = (): void => {
      send();
      if (this.#happens(faults.duplicates)) send();
    };
    if (faults.lateMs === undefined) sendAll();
    else this.#clock.after(faults.lateMs, sendAll);
  }

  #happens(share: number | undefined): boolean {
    return share !== undefined && this.#random.next() < share;
  }
}
