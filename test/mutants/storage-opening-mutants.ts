import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const OPENING = 'src/domain/storage-opening';

/** Defects of the decision whether a storage that was revoked may be opened again. */
export const STORAGE_OPENING_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'storage opened too soon',
    defect: 'revoked storage is opened for the boot that wrote to it',
    file: `${OPENING}.ts`,
    edits: [['if (!mayWriteThere(node, status)) return true;', 'if (status !== null || !mayWriteThere(node, status)) return true;']],
    killedBy: byTest(`${OPENING}.test.ts`, 'stays closed for the same boot when the NodeFence is deleted by hand, and is opened after another'),
  },
  {
    name: 'storage opened on a disproved off',
    defect: 'revoked storage is opened for the boot that wrote to it, on an off that a sign of life has voided',
    file: `${OPENING}.ts`,
    edits: [
      ['voidedAt === undefined || voidedBecause === SWITCHED_ON', "voidedAt !== 'never' || voidedBecause === SWITCHED_ON"],
      [': lifeAtMs > provenAtMs', ': lifeAtMs > provenAtMs && lifeAtMs < 0'],
    ],
    killedBy: byTest(`${OPENING}.test.ts`, 'stays closed for a boot that speaks after its off was proven: the device has switched another machine'),
  },
  {
    name: 'storage opened behind a wait',
    defect: 'revoked storage is opened for the boot that wrote to it, behind a run that waited for a dump in vain',
    file: `${OPENING}.ts`,
    edits: [['      standing.has(entry.id) &&\n', '']],
    killedBy: byTest(`${OPENING}.test.ts`, 'stays closed behind a run that only waited for a dump and heard none'),
  },
  {
    name: 'storage opened for a boot that speaks',
    defect: 'revoked storage is opened for the boot that wrote to it, though its node has spoken since the machine was read off and switched on',
    file: `${OPENING}.ts`,
    edits: [[': lifeAtMs > provenAtMs', ': lifeAtMs > provenAtMs && lifeAtMs < 0']],
    killedBy: byTest(
      `${OPENING}.test.ts`,
      'stays closed for a boot that speaks after our on: its proof was never disproved, and its device switched another machine',
    ),
  },
  {
    name: 'storage opened behind the end',
    defect: 'revoked storage is opened for the boot that wrote to it when the NodeFence is deleted by hand after its end',
    file: `${OPENING}.ts`,
    edits: [['if (!mayWriteThere(node, status)) return true;', "if (status.state === 'final' || !mayWriteThere(node, status)) return true;"]],
    killedBy: byTest(
      `${OPENING}.test.ts`,
      'stays closed for the same boot also where the fence is over, for its Machine is being deleted, and the NodeFence with it',
    ),
  },
  {
    name: 'opened in the next incident',
    defect: 'revoked storage is opened to the boot that wrote to it once another incident of the node has begun',
    file: 'src/domain/rows/final.ts',
    edits: [['    next.storageRelease = { at: snapshot.wall, pods: 0, evidence, storages, ...(bootID === undefined ? {} : { bootID }) };\n', '']],
    killedBy: byTest(
      'src/domain/storage-opening.test.ts',
      'storage that is revoked stays closed for the same boot in the next incident too, which somebody asks for and takes back',
    ),
  },
];
