import type { LeaseHeader, LeaseSlot, SlotContent } from '../../domain/node-daemon/storage-lease/layout.ts';
import { decodeHeader, decodeSlot, encodeSlot, slotOffset } from '../../domain/node-daemon/storage-lease/layout.ts';
import { chooseSlot, decideRenewal, headerProblem, isSameSlot } from '../../domain/node-daemon/storage-lease/renewal.ts';
import type { Known, Owner } from '../../domain/node-daemon/storage-lease/renewal.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CheckFound, LeaseFound, NodeCheck } from '../../ports/node-checks.ts';
import type { StorageSlots } from '../../ports/storage-lease.ts';
import { READ_MAX } from './lease-disk.ts';
import type { Disk, DiskAnswer } from './lease-disk.ts';
import { judgeStorage, reachOf } from './storage.ts';
import { quoted } from './verdict.ts';

export interface StorageLeaseOptions extends Owner {
  path: string;
  /** Whose lease it must be. */
  cluster: string;
  /** Absent: by the node's name. */
  slot?: number;
}

type Refusal = { found: CheckFound };

/** One read or write. */
const ANSWER_MS = 3_000;
/** All those of one renewal. */
const WHOLE_MS = 8_000;
const SLACK_MS = 3_000;
/** In these its slot was found as this node wrote it: of two that chose the same empty one, one has gone on to another by then. */
const RENEWALS_TO_HOLD = 2;
const HEADER_BYTES = 4_096;

/** The slot of this node on shared storage: renewed, and only where it is this node's. Reads those of others. */
export class StorageLease implements StorageSlots {
  readonly #clock: Pick<Clock, 'monotonicMs'>;
  readonly #disk: Disk;
  readonly #options: StorageLeaseOptions;
  #known: Known | undefined;
  #renewals = 0;
  #isDirect = true;
  #isReleased = false;

  constructor(clock: Pick<Clock, 'monotonicMs'>, disk: Disk, options: StorageLeaseOptions) {
    this.#clock = clock;
    this.#disk = disk;
    this.#options = options;
  }

  get check(): NodeCheck {
    const { intervalMs } = this.#options;
    return { name: 'storage-lease', intervalMs, deadlineMs: WHOLE_MS + SLACK_MS, run: async () => this.renew() };
  }

  async renew(): Promise<CheckFound> {
    const endsAtMs = this.#clock.monotonicMs() + WHOLE_MS;
    const known = this.#known ?? (await this.#choose(endsAtMs));
    if ('found' in known) return known.found;
    this.#known = known;
    const { header, slot } = known;
    const written = await this.#write(known, endsAtMs);
    if ('found' in written) return written.found;
    const read = await this.#slot(header, slot, endsAtMs);
    if ('found' in read) return read.found;
    if (!isSameSlot(written.slot, read.content)) return this.#refused(`slot ${slot} reads otherwise than it was written`);
    this.#known = { header, slot, counters: [written.slot.counter] };
    this.#renewals += 1;
    const { intervalMs, path } = this.#options;
    const how = this.#isDirect ? '' : ', without direct I/O';
    const sentence = `slot ${slot} of ${header.slots} is renewed every ${intervalMs / 1000} s on ${quoted(path, 200)}${how}`;
    return { health: 'ok', sentence, lease: { ...this.#lease('reachable'), isRenewed: this.#renewals >= RENEWALS_TO_HOLD } };
  }

  async read(slot: number): Promise<LeaseSlot | undefined> {
    const header = this.#known?.header;
    if (header === undefined || slot >= header.slots) return undefined;
    const answer = await this.#disk.read(slotOffset(header, slot), header.sectorSize, ANSWER_MS);
    const content = answer.kind === 'done' ? decodeSlot(header, slot, answer.bytes) : undefined;
    return content?.kind === 'slot' ? content.slot : undefined;
  }

  /** A clean stop: others see that this is no failure. What does not answer in time is left as it is. */
  async release(): Promise<void> {
    const known = this.#known;
    this.#isReleased = true;
    if (known === undefined || this.#renewals === 0) return;
    await this.#write(known, this.#clock.monotonicMs() + ANSWER_MS, 'released');
  }

  /** Looks at the header and at the slot, and writes only where both are as they must be. */
  async #write(known: Known, endsAtMs: number, state: LeaseSlot['state'] = 'held'): Promise<{ slot: LeaseSlot } | Refusal> {
    const { header, slot } = known;
    const area = await this.#io('renewed', endsAtMs, async (deadlineMs) => this.#disk.read(0, HEADER_BYTES, deadlineMs));
    if ('found' in area) return area;
    const before = await this.#slot(header, slot, endsAtMs);
    if ('found' in before) return before;
    const decided = decideRenewal(known, decodeHeader(area.bytes), before.content, this.#owner);
    if ('refused' in decided) return this.#giveUp(known, before.content, decided);
    // A release that came meanwhile is the last word.
    if (this.#isReleased && state === 'held') return { found: this.#refused('the daemon stops') };
    const wanted = { ...decided.write, state };
    // A write that is not answered may still arrive.
    this.#known = { header, slot, counters: [...countersOf(before.content), wanted.counter] };
    const answer = await this.#io('renewed', endsAtMs, async (deadlineMs) =>
      this.#disk.write(slotOffset(header, slot), encodeSlot(header, wanted), deadlineMs),
    );
    return 'found' in answer ? answer : { slot: wanted };
  }

  get #owner(): Owner {
    const { node, systemUUID, bootID, intervalMs } = this.#options;
    return { node, systemUUID, bootID, intervalMs };
  }

  #giveUp(known: Known, content: SlotContent, { refused, counters }: { refused: string; counters?: readonly number[] }): Refusal {
    this.#renewals = 0;
    const isTaken = content.kind === 'slot' && content.slot.node !== this.#options.node;
    // Another node was faster: there are other slots, unless this one was given by hand.
    if (isTaken && this.#options.slot === undefined) this.#known = undefined;
    else if (counters !== undefined) this.#known = { ...known, counters };
    return { found: this.#refused(refused) };
  }

  async #choose(endsAtMs: number): Promise<Known | Refusal> {
    const answer = await this.#io('found', endsAtMs, async (deadlineMs) => this.#disk.read(0, HEADER_BYTES, deadlineMs));
    if ('found' in answer) return answer;
    const read = decodeHeader(answer.bytes);
    const { cluster, node, slot } = this.#options;
    const problem = headerProblem(read, cluster);
    if (problem !== undefined || !('header' in read)) return { found: this.#refused(problem ?? 'it has no header') };
    const { header } = read;
    if (slot !== undefined)
      return slot < header.slots ? { header, slot } : { found: this.#refused(`it has ${header.slots} slots: there is no ${slot}`) };
    const contents = await readSlots(header, async (offset, length) =>
      this.#io('found', endsAtMs, async (deadlineMs) => this.#disk.read(offset, length, deadlineMs)),
    );
    if ('found' in contents) return contents;
    const choice = chooseSlot(header, contents.slots, node);
    return 'refused' in choice ? { found: this.#refused(choice.refused) } : { header, slot: choice.slot };
  }

  async #slot(header: LeaseHeader, slot: number, endsAtMs: number): Promise<{ content: SlotContent } | Refusal> {
    const answer = await this.#io('renewed', endsAtMs, async (deadlineMs) =>
      this.#disk.read(slotOffset(header, slot), header.sectorSize, deadlineMs),
    );
    return 'found' in answer ? answer : { content: decodeSlot(header, slot, answer.bytes) };
  }

  async #io(what: string, endsAtMs: number, ask: (deadlineMs: number) => Promise<DiskAnswer>): Promise<{ bytes: Uint8Array } | Refusal> {
    const leftMs = Math.min(ANSWER_MS, endsAtMs - this.#clock.monotonicMs());
    const answer: DiskAnswer = leftMs > 0 ? await ask(leftMs) : { kind: 'not-probed', why: 'there was no time left for it' };
    if (answer.kind === 'done') {
      this.#isDirect = answer.isDirect;
      return answer;
    }
    const reading = { kind: 'device' as const, path: this.#options.path, outcome: answer };
    const { health, sentence } = judgeStorage([reading], {});
    return { found: { health, sentence: `its slot is not ${what}: ${sentence}`, lease: this.#lease(reachOf(reading)) } };
  }

  #refused(why: string): CheckFound {
    return { health: 'problem', sentence: `its slot is not renewed on ${quoted(this.#options.path, 200)}: ${why}`, lease: this.#lease('unknown') };
  }

  #lease(reach: LeaseFound['reach']): LeaseFound {
    const { path, intervalMs } = this.#options;
    const known = this.#known;
    return { path, reach, isRenewed: false, intervalMs, ...(known === undefined ? {} : { id: known.header.id, slot: known.slot }) };
  }
}

function countersOf(content: SlotContent): number[] {
  return content.kind === 'slot' ? [content.slot.counter] : [];
}

/** All slots, in as few reads as may be. */
export async function readSlots<Failure extends object>(
  header: LeaseHeader,
  read: (offset: number, length: number) => Promise<{ bytes: Uint8Array } | Failure>,
): Promise<{ slots: SlotContent[] } | Failure> {
  const slots: SlotContent[] = [];
  const perRead = READ_MAX / header.sectorSize;
  while (slots.length < header.slots) {
    const first = slots.length;
    const count = Math.min(perRead, header.slots - first);
    const answer = await read(slotOffset(header, first), count * header.sectorSize);
    if (!('bytes' in answer)) return answer;
    for (let index = 0; index < count; index += 1)
      slots.push(decodeSlot(header, first + index, answer.bytes.subarray(index * header.sectorSize, (index + 1) * header.sectorSize)));
  }
  return { slots };
}
