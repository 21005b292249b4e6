import { jsonIn } from '../../src/domain/json.ts';
import type { PortState } from '../../src/ports/agents.ts';
import type { AddressRange } from './address-range.ts';

/** An entry as `ceph osd blocklist ls --format=json` gives it. */
interface Entry {
  addr: string;
  until: string;
}

/** An entry that ends sooner is none: the storage would forget the node while its workload runs elsewhere. Also what two clocks may differ by. */
export const LEAST_LEFT_MS = 600_000;

/** The entries, or undefined for what is no such list. A Ceph with ranges writes two lists one after the other. */
export function parseBlocklist(text: string): Entry[] | undefined {
  const told = text.trim();
  const lists = jsonIn(told) ?? (told === '' ? undefined : jsonIn(`[${told.replaceAll(/\]\s*\[/g, '],[')}]`));
  if (!Array.isArray(lists)) return undefined;
  const flat: unknown[] = lists.flat();
  return flat.every(isEntry) ? flat : undefined;
}

function isEntry(value: unknown): value is Entry {
  const entry = value as Partial<Record<string, unknown>> | null;
  return typeof entry === 'object' && entry !== null && typeof entry['addr'] === 'string' && typeof entry['until'] === 'string';
}

/** How Ceph writes what it was told to block: any port and nonce of a host, `cidr:` before a range. Source: entity_addr_t, src/msg/msg_types.cc. */
function addressOf({ address, prefix, family, isHost }: AddressRange): string {
  const host = family === 6 ? `[${address}]` : address;
  return isHost ? `${host}:0/0` : `cidr:${host}:0/${prefix}`;
}

/** Closed only when every address is listed, each for long enough. `nowMs`: since 1970. */
export function portOf(text: string, ranges: readonly AddressRange[], nowMs: number): { state: PortState; detail: string } {
  const entries = parseBlocklist(text);
  if (entries === undefined) return { state: 'unknown', detail: 'the blocklist is not the JSON that was asked for' };
  const states = ranges.map((range) => {
    const entry = entries.find(({ addr }) => addr.toLowerCase() === addressOf(range));
    if (entry === undefined) return { state: 'open' as const, detail: `${range.cidr} is not on the blocklist` };
    const untilMs = /(Z|[+-]\d\d:?\d\d)$/.test(entry.until) ? Date.parse(entry.until) : Number.NaN;
    const detail = `${range.cidr} is blocked until ${entry.until.slice(0, 40)}`;
    if (Number.isNaN(untilMs)) return { state: 'unknown' as const, detail };
    return untilMs - nowMs < LEAST_LEFT_MS
      ? { state: 'open' as const, detail: `${detail}, which is too soon` }
      : { state: 'closed' as const, detail };
  });
  const state = (['open', 'unknown', 'closed'] as const).find((one) => states.some((range) => range.state === one)) ?? 'unknown';
  return { state, detail: states.map(({ detail }) => detail).join(', ') };
}

/** What is given to `ceph` to block or to let in one address or range. */
export function blocklistArguments({ address, cidr, isHost }: AddressRange, state: 'open' | 'closed', expiryMs: number): string[] {
  const list = ['osd', 'blocklist', ...(isHost ? [] : ['range'])];
  const what = isHost ? address : cidr;
  return state === 'closed' ? [...list, 'add', what, String(Math.ceil(expiryMs / 1000))] : [...list, 'rm', what];
}
