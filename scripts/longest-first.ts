import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * By the wall time of each file, the longest first: nothing long is left for the end. Those that want a core of their own (the simulation, the
 * package, the image, an installation) stand between those that wait, so that what waits in real time is not late.
 */
const ORDER = [
  'test/simulation/simulation',
  'test/scenarios/replicas-outage',
  'test/scenarios/outage',
  'test/package',
  'test/installation/uninstall',
  'test/fault-matrix/boards',
  'test/scenarios/storm',
  'test/scenarios/handover',
  'test/installation/image',
  'test/fault-matrix/objects',
  'test/scenarios/replicas-hand-over',
  'test/installation/apply',
  'test/fault-matrix/shells',
  'test/scenarios/lease-deleted',
  'test/scenarios/ownership',
  'test/installation/preservation.test',
  'test/installation/upgrade',
  'test/clusterlabs/agent-program',
  'test/fault-matrix',
  'test/scenarios/command-line',
  'test/hour',
  'test/simulation/core',
  'test/laws/search',
  'test/simulation/secondary-controllers/worlds',
  'test/simulation/node-daemons',
  'test/installation',
  'test/scenarios',
  'test/integration',
  'test/clusterlabs',
  'src/drill',
  'test',
];

/** After the long ones: what computes in the background of what waits in real time, the short ones of `programs`, and what waits for nothing. */
const AFTER = ['worlds', 'programs', 'in memory'];

/** The files of a run, the longest first; short ones that share processes together: a process is not kept for the next between others. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const file = relative(import.meta.dirname, moduleId).replace('../', '');
      const place = ORDER.findIndex((folder) => file.startsWith(folder));
      return place === -1 ? ORDER.length : place;
    };
    const blockOf = (file: TestSpecification): number => {
      const { name, isolate } = file.project.config;
      const isLong = isolate || name === 'scenarios' || (name === 'programs' && placeOf(file) < ORDER.length);
      return isLong ? -1 : AFTER.indexOf(name);
    };
    return (await super.sort(files)).toSorted((left, right) => blockOf(left) - blockOf(right) || placeOf(left) - placeOf(right));
  }
}
