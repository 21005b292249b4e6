import type { Clock } from '../../../ports/clock.ts';
import type { Random } from '../../../ports/random.ts';
import type { TraceEvent } from '../../../laws/trace.ts';
import type { BmcConfiguration, BmcReady } from './bmc-configuration.ts';
import type { BmcFaults } from './faults.ts';
import type { PowerBackend } from './power-backend.ts';

/** What every kind of BMC is built from. */
export interface BmcServiceOptions {
  configuration: BmcConfiguration;
  /** Where it may put files; its owner's only. */
  folder: string;
  clock: Clock;
  random: Random;
  backend: PowerBackend;
  trace: (event: TraceEvent) => void;
}

/** A BMC that can be reached. */
export interface BmcService {
  ready: BmcReady;
  /** Throws for a fault that this kind cannot show. */
  setFaults(faults: BmcFaults): void;
  /** Another password from now on; whoever came in with the old one is thrown out. */
  setPassword(password: string): Promise<void>;
  /** The machine's true power is another now. */
  powerChanged(): void;
  close(): Promise<void>;
}
