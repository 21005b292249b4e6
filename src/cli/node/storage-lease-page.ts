import { randomUUID } from 'node:crypto';
import { areaBytes, decodeHeader, decodeSlot, encodeHeader, isZero, slotOffset } from '../../domain/node-daemon/storage-lease/layout.ts';
import type { LeaseHeader, LeaseSlot, SectorSize } from '../../domain/node-daemon/storage-lease/layout.ts';
import { LeaseDisk, READ_MAX } from '../../node/checks/lease-disk.ts';
import type { DiskAnswer } from '../../node/checks/lease-disk.ts';
import { readSlots } from '../../node/checks/storage-lease.ts';
import { SystemClock } from '../../runtime/system-clock.ts';
import { EXIT } from '../commands/failure.ts';
import { processConsole } from '../commands/terminal/console.ts';
import { harmless } from '../commands/terminal/text.ts';

const ANSWER_MS = 10_000;
/** Partition tables, labels of volume managers and file systems begin within it. */
const LOOKED_AT_BYTES = 1_048_576;
const HEADER_BYTES = 4_096;
const clock = new SystemClock();

type Say = (line: string) => void;

export async function initLease(
  path: string,
  options: { state: string; cluster: string; slots: number; sectorSize: SectorSize; overwrite: boolean },
): Promise<void> {
  const { cluster, slots, sectorSize, overwrite } = options;
  await using(path, options.state, async (disk, say) => {
    const header: LeaseHeader = { cluster, slots, sectorSize, id: randomUUID() };
    const area = areaBytes(header);
    const end = await bytesOf(disk.read(area - sectorSize, sectorSize, ANSWER_MS));
    if (end.length < sectorSize)
      throw new Error(`it is too small: ${slots} slots need ${area} bytes (--slots, or for a file: truncate -s ${area} PATH)`);
    if (!overwrite) await demandEmpty(disk, Math.max(area, LOOKED_AT_BYTES));
    // The header last: what was cut off on the way is no lease.
    for (let at = area; at > 0;) {
      const length = Math.min(READ_MAX, at);
      at -= length;
      await bytesOf(disk.write(at, new Uint8Array(length), ANSWER_MS));
    }
    const wanted = encodeHeader(header);
    await bytesOf(disk.write(0, wanted, ANSWER_MS));
    const written = decodeHeader(await bytesOf(disk.read(0, HEADER_BYTES, ANSWER_MS)));
    if (!('header' in written) || written.header.id !== header.id) throw new Error('it reads otherwise than it was written');
    say(`laid out: ${slots} slots in sectors of ${sectorSize} bytes for cluster ${cluster}`);
  });
}

export async function showLease(path: string, state: string): Promise<void> {
  await using(path, state, async (disk, say) => {
    const header = await headerOf(disk);
    const { slots } = await readSlots<never>(header, async (offset, length) => ({ bytes: await bytesOf(disk.read(offset, length, ANSWER_MS)) }));
    say(`Cluster ${header.cluster}, lease ${header.id}, ${header.slots} slots in sectors of ${header.sectorSize} bytes`);
    const rows = slots.flatMap((content, slot): string[][] => {
      if (content.kind === 'empty') return [];
      if (content.kind === 'broken') return [[String(slot), 'damaged', '', '', '', '', '']];
      const { state: held, node, counter, intervalMs, bootID, systemUUID } = content.slot;
      return [[String(slot), held, node, String(counter), `${intervalMs / 1000}s`, bootID, systemUUID]];
    });
    const table = [['SLOT', 'STATE', 'NODE', 'COUNTER', 'EVERY', 'BOOT', 'SYSTEM UUID'], ...rows];
    const widths = (table[0] ?? []).map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length)));
    for (const row of table)
      say(
        row
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join('  ')
          .trimEnd(),
      );
  });
}

/** Only one that stands still: whoever renews it lives. */
export async function clearSlot(path: string, state: string, slot: number): Promise<void> {
  await using(path, state, async (disk, say) => {
    const header = await headerOf(disk);
    if (slot >= header.slots) throw new Error(`it has ${header.slots} slots: there is no ${slot}`);
    const read = async (): Promise<Uint8Array> => bytesOf(disk.read(slotOffset(header, slot), header.sectorSize, ANSWER_MS));
    const before = await read();
    const content = decodeSlot(header, slot, before);
    const held = content.kind === 'slot' && content.slot.state === 'held' ? content.slot : undefined;
    await clock.sleep(held === undefined ? 0 : waitOf(held));
    const after = await read();
    if (!Buffer.from(before).equals(after))
      throw new Error(`slot ${slot} is renewed${held === undefined ? '' : ` by node ${held.node}`}: stop its daemon first`);
    await bytesOf(disk.write(slotOffset(header, slot), new Uint8Array(header.sectorSize), ANSWER_MS));
    say(`slot ${slot} is empty${content.kind === 'slot' ? `; it was of node ${content.slot.node}` : ''}`);
  });
}

const waitOf = ({ intervalMs }: LeaseSlot): number => 3 * intervalMs;

async function headerOf(disk: LeaseDisk): Promise<LeaseHeader> {
  const read = decodeHeader(await bytesOf(disk.read(0, HEADER_BYTES, ANSWER_MS)));
  if ('header' in read) return read.header;
  throw new Error({ empty: 'nothing is laid out there', foreign: 'something else stands there', broken: 'its header is damaged' }[read.problem]);
}

async function demandEmpty(disk: LeaseDisk, bytes: number): Promise<void> {
  for (let at = 0; at < bytes;) {
    const read = await bytesOf(disk.read(at, READ_MAX, ANSWER_MS));
    const lease = at === 0 ? decodeHeader(read) : undefined;
    if (lease !== undefined && 'header' in lease)
      throw new Error(`it is a storage lease of cluster ${lease.header.cluster} already; --overwrite lays it out anew`);
    if (!isZero(read)) throw new Error('something stands there that is not all zeros; --overwrite destroys it');
    if (read.length < READ_MAX) return;
    at += read.length;
  }
}

/** Rejects with what the storage answered. */
async function bytesOf(asked: Promise<DiskAnswer>): Promise<Uint8Array> {
  const answer = await asked;
  switch (answer.kind) {
    case 'done':
      return answer.bytes;
    case 'refused':
      throw new Error(`${answer.step} fails with ${answer.code}${HINTS[answer.code] ?? ''}`);
    case 'silent':
      throw new Error(`no answer for ${answer.forMs / 1000} s`);
    case 'not-probed':
      throw new Error(answer.why);
  }
}

const HINTS: Readonly<Record<string, string>> = {
  EBUSY: ': this machine uses it, as for a mount, a volume group, or the daemon of this node',
  EINVAL: ': are the sectors of the device larger than --sector-size?',
  ENOENT: ': a file is made by truncate -s 1M PATH',
};

async function using(path: string, stateFolder: string, work: (disk: LeaseDisk, say: Say) => Promise<void>): Promise<void> {
  const console = processConsole();
  const disk = new LeaseDisk({ clock, path, stateFolder });
  try {
    await work(disk, (line) => console.print(harmless(line)));
  } catch (error) {
    console.say(`nodefence: ${harmless(`${path}: ${error instanceof Error ? error.message : String(error)}`)}`);
    process.exitCode = EXIT.failed;
  } finally {
    disk.close();
  }
}
