import { parseTimes, timesText } from './times.ts';
import type { WrittenTimes } from './times.ts';

/** What all controllers say is sent by this name: they share one key. */
export const CONTROLLERS = 'nodefence-controllers';
/** The ConfigMap in the fence namespace that tells nodes where the controllers are. */
export const CONTROLLERS_TOLD = 'nodefence-controllers';
/** The Secret in the fence namespace with the key pair that all controllers share; nobody else may read it. */
export const EXCHANGE_KEY_SECRET = 'nodefence-controllers-exchange-key';
const PUBLIC_KEYS = 'public-keys';
const ADDRESSES = 'addresses';
const TIMES = 'times';

export interface ControllersTold {
  /** X25519 public keys: a datagram is sealed with the first, and one that comes may be sealed with any. Two while the key is changed. */
  publicKeys: string[];
  /** Of every replica: each is sent the heartbeat, the leader grants. */
  addresses: string[];
  /** What `fence-cluster-config` says of the daemons' times. */
  times: WrittenTimes;
}

const MOST_KEYS = 4;
const MOST_ADDRESSES = 16;
const ADDRESS = /^(?:\[[0-9a-f:.]{2,45}\]|[a-z0-9.-]{1,253}):\d{1,5}$/;
const PUBLIC_KEY = /^[A-Za-z0-9_-]{43}$/;

/** One per line, in the order that counts. */
export function controllersData({ publicKeys, addresses, times }: ControllersTold): Record<string, string> {
  return { [PUBLIC_KEYS]: publicKeys.join('\n'), [ADDRESSES]: addresses.join('\n'), [TIMES]: timesText(times) };
}

/** Undefined where it is absent or broken: whoever has read it before goes on with that. */
export function parseControllers(data: Readonly<Record<string, string>> | undefined): ControllersTold | undefined {
  const publicKeys = lines(data?.[PUBLIC_KEYS], MOST_KEYS, PUBLIC_KEY);
  const addresses = lines(data?.[ADDRESSES], MOST_ADDRESSES, ADDRESS);
  const times = parseTimes(data?.[TIMES] ?? '');
  return publicKeys === undefined || addresses === undefined || times === undefined ? undefined : { publicKeys, addresses, times };
}

/** One such address: `192.0.2.7:7411`, `[2001:db8::7]:7411`. */
export function isAddress(text: string): boolean {
  return ADDRESS.test(text);
}

function lines(text: string | undefined, most: number, form: RegExp): string[] | undefined {
  const found = (text ?? '').split('\n').filter((line) => line !== '');
  return found.length > 0 && found.length <= most && found.every((line) => form.test(line)) ? found : undefined;
}
