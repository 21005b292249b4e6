/** What a device showed when it was first seen, before anybody logged in. */
export interface TrustedDevice {
  /** `host:port`. */
  device: string;
  /** Fingerprint of its certificate or host key, as the parameter that pins it takes it. */
  shown: string;
  since: string;
}

export type TrustDecision =
  /** It shows what is on record. */
  | { kind: 'known' }
  /** Nothing is on record, or an admin has accepted what it shows now. */
  | { kind: 'record'; why: 'first seen' | 'accepted' }
  /** Somebody else may stand there: nobody logs in. */
  | { kind: 'stranger'; recorded: TrustedDevice };

/** `accepted`: what the configuration admits in the place of the record. */
export function judgeTrust(recorded: TrustedDevice | undefined, shown: string, accepted: readonly string[]): TrustDecision {
  if (recorded === undefined) return { kind: 'record', why: 'first seen' };
  if (recorded.shown === shown) return { kind: 'known' };
  return accepted.includes(shown) ? { kind: 'record', why: 'accepted' } : { kind: 'stranger', recorded };
}

/** In words that say what to do. */
export function strangerMessage({ recorded }: Extract<TrustDecision, { kind: 'stranger' }>, shown: string): string {
  return `its certificate or key has changed: it shows ${shown}, and not ${recorded.shown}, which is on record since ${recorded.since}: nobody logs in; if you have changed it, write accept_fingerprint=${shown} into its method or template, else find out who answers there`;
}
