import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const RESTORED = 'src/domain/restored.test.ts';
const SUITE = 'test/availability/embedded.test.ts';

/** Backups that are taken for the present. */
export const RESTORED_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'status of another object',
    defect: 'a status that was written for another NodeFence counts: its proof releases what runs now',
    file: 'src/domain/restored.ts',
    edits: [['return status.fenceUID !== uid;', 'return false;']],
    killedBy: byTest(RESTORED, 'the status of another object'),
  },
  {
    name: 'restored request',
    defect: 'the mark of the object whose request was served is not looked at: a restored request fences a healthy node again',
    file: 'src/domain/restored.ts',
    edits: [['if (mark !== undefined) return mark !== uid;', '']],
    killedBy: byTest(RESTORED, 'a request, and the mark of another object'),
  },
  {
    name: 'proof of a backup',
    defect: 'others rest on the proof of a NodeFence that was restored',
    file: 'src/domain/restored.ts',
    edits: [['return isRestored(fence) ? undefined : fence.status;', 'return fence.status;']],
    killedBy: byTest(RESTORED, 'that was restored proves nothing, to nobody'),
  },
  {
    name: 'nobody marks',
    defect: 'a request is taken up, and its object not marked: a backup of it looks like a new request',
    file: 'src/controllers/fence/fence-objects.ts',
    edits: [['const isMarked = fence.spec.requestedBy === undefined || annotations?.[TAKEN_UP_AS] === uid;', 'const isMarked = true;']],
    killedBy: byTest(SUITE, 'fences no healthy node when it is restored'),
  },
  {
    name: 'restored remediation',
    defect: 'a NodeFenceRemediation that was restored from a backup asks for a fence again',
    file: 'src/controllers/node-remediation/decide.ts',
    edits: [['if (isRestored(request)) return restored(snapshot);', '']],
    killedBy: byTest('test/node-remediation/request.test.ts', 'that was restored from a backup'),
  },
];
