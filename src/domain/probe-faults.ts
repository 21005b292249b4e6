/** What was read of one plug, as far as it can be judged; `state` absent: it could not be read. */
interface Read {
  state?: 'on' | 'off' | 'open' | 'closed' | 'pending' | 'unknown';
  identity?: 'verified' | 'unverified';
  detail?: string;
  error?: string;
  /** Why the device would refuse a set. */
  wouldRefuse?: string;
  /** What else feeds the machine, and nothing switches. */
  overlooked?: string;
}

interface Circumstances {
  isReady: boolean;
  /** The device must show whose machine it switches. */
  isIdentityRequired: boolean;
  isUuidKnown: boolean;
}

/** `error`: a fence would fail on it, or hit another machine. */
export interface ProbeFault {
  severity: 'error' | 'warning';
  message: string;
}

/** What is wrong with a fence path, as one read shows it; empty when nothing is. */
export function probeFaults(read: Read, { isReady, isIdentityRequired, isUuidKnown }: Circumstances): ProbeFault[] {
  const { state = 'unknown', detail = '' } = read;
  if (read.error !== undefined) return [{ severity: 'error', message: read.error }];
  const faults: ProbeFault[] = [];
  const say = (severity: ProbeFault['severity'], message: string): void => void faults.push({ severity, message });
  if (state === 'unknown') say('error', `answers, but not in words that are surely on or off: ${detail}; a fence would prove nothing by it`);
  if (state === 'pending') say('warning', `is on its way between two states: ${detail}; probe again`);
  if (read.wouldRefuse !== undefined) say('error', `can be read, and would refuse to be switched: ${read.wouldRefuse}`);
  if (read.overlooked !== undefined)
    say('error', `is not all that feeds the machine: ${read.overlooked}; a fence would take it for off while it runs on`);
  const isOff = state === 'off' || state === 'closed';
  if (isOff && isReady) say('error', `reads ${state} while the Node is Ready: it switches another machine; mend the address or the plug`);
  else if (isOff) say('warning', `reads ${state}: ${detail}`);
  if (read.identity !== 'unverified' || !isIdentityRequired) return faults;
  const remedy = 'a fence would refuse it; write identity=unverified into the method to accept that, after looking whose machine it is';
  if (isUuidKnown) say('error', `does not show whose machine it is (${detail}): ${remedy}`);
  else say('warning', 'whose machine it is was not checked: no system UUID of the node is known here');
  return faults;
}
