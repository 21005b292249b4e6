import type { Clock } from '../../src/ports/clock.ts';

/** A whole fleet; each takes some two kilobytes. */
const DEVICES_MAX = 5_000;
/** So long after a handshake in which the certificate was verified it stands for those that resume it. */
const VERIFIED_MAX_MS = 3_600_000;
/** When an account ends is told days before, and rarely changes: it is looked for so often. */
const ACCOUNT_MAX_MS = 3_600_000;
/** Whether there is still one that is meant, and one only, is looked at so often. */
const CHOICE_MAX_MS = 3_600_000;
/** Of one device: an enclosure shows the blades that it has room for. */
const SYSTEMS_MAX = 64;

/** What the device showed of itself in a handshake. */
export interface ShownCertificate {
  /** SHA-256, 64 lower-case hexadecimal digits. */
  fingerprint: string;
  /** RFC 3339; undefined when its end cannot be read. */
  expiresAt: string | undefined;
}

/** A TLS session that can be resumed, and the certificate that it began with: one that is resumed shows none. */
interface Resumable {
  session: Buffer;
  certificate: ShownCertificate;
  verifiedAtMs: number;
}

/** What stays known of one device under one trust and login when its connection is closed: what costs a round trip, or a signature of its slow processor. */
export class Recollection {
  /** Where it opened a Redfish session. */
  sessionsPath: string | undefined;
  /** False once its service root named another path for sessions than the usual one. */
  isSessionsPathUsual = true;
  #resumable: Resumable | undefined;
  #account: { endsAt: string | undefined; readAtMs: number } | undefined;
  readonly #systems = new Map<string, { path: string; chosenAtMs: number; isShown: boolean }>();
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>) {
    this.#clock = clock;
  }

  /** Path of the ComputerSystem that a plug meant within the last hour: good for a machine whose identity is verified there anew, and for nothing else. */
  systemOf(plug: string): string | undefined {
    const known = this.#chosen(plug);
    return known?.isShown === true ? known.path : undefined;
  }

  /** The same of a machine that did not show which it is: good for a probe, by which nothing is switched. */
  glimpseOf(plug: string): string | undefined {
    const known = this.#chosen(plug);
    return known?.isShown === false ? known.path : undefined;
  }

  /** As it was chosen just now. `isShown`: what is there shows that it is the one. */
  systemIs(plug: string, path: string, isShown: boolean): void {
    this.#systems.delete(plug);
    const [oldest] = this.#systems.keys();
    if (oldest !== undefined && this.#systems.size >= SYSTEMS_MAX) this.#systems.delete(oldest);
    this.#systems.set(plug, { path, chosenAtMs: this.#clock.monotonicMs(), isShown });
  }

  /** It is not the one any more. */
  forgetSystem(plug: string): void {
    this.#systems.delete(plug);
  }

  #chosen(plug: string): { path: string; isShown: boolean } | undefined {
    const known = this.#systems.get(plug);
    return known !== undefined && this.#clock.monotonicMs() - known.chosenAtMs < CHOICE_MAX_MS ? known : undefined;
  }

  /** Undefined where the certificate has ended since, or was verified too long ago. */
  get resumable(): Resumable | undefined {
    const known = this.#resumable;
    if (known === undefined) return undefined;
    const isFresh = this.#clock.monotonicMs() - known.verifiedAtMs < VERIFIED_MAX_MS;
    return isFresh && Date.parse(known.certificate.expiresAt ?? '') > this.#clock.wallMs() ? known : undefined;
  }

  /** Of a connection that is trusted. `verifiedAtMs`: monotonic, of the handshake in which the certificate was shown. */
  keep(resumable: Resumable): void {
    this.#resumable = resumable;
  }

  /** When our account ends, as the device said within the last hour; undefined where that has to be asked for. */
  get account(): { endsAt: string | undefined } | undefined {
    const known = this.#account;
    return known !== undefined && this.#clock.monotonicMs() - known.readAtMs < ACCOUNT_MAX_MS ? known : undefined;
  }

  /** `undefined`: the device does not say, or it does not end. */
  accountEnds(endsAt: string | undefined): void {
    this.#account = { endsAt, readAtMs: this.#clock.monotonicMs() };
  }

  /** One that the device did not take. */
  forgetSession(): void {
    this.#resumable = undefined;
  }
}

/** By the key of a connection, so that another pin, authority, name or login begins with nothing. */
export class Recollections {
  readonly #clock: Pick<Clock, 'monotonicMs' | 'wallMs'>;
  /** Longest unused first. */
  readonly #known = new Map<string, Recollection>();

  constructor(clock: Pick<Clock, 'monotonicMs' | 'wallMs'>) {
    this.#clock = clock;
  }

  of(key: string): Recollection {
    const known = this.#known.get(key) ?? new Recollection(this.#clock);
    this.#known.delete(key);
    const [oldest] = this.#known.keys();
    if (oldest !== undefined && this.#known.size >= DEVICES_MAX) this.#known.delete(oldest);
    this.#known.set(key, known);
    return known;
  }
}
