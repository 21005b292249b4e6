import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** What takes minutes, then what waits for processes in real time; nothing long is left for the end, when the other workers have nothing to do. */
const ORDER = [
  'test/simulation/simulation',
  'test/package',
  'test/installation/uninstall',
  'test/installation/image',
  'test/scenarios/outage',
  'test/scenarios/replicas',
  'test/scenarios/command-line',
  'test/scenarios/lease-deleted',
  'test/fault-matrix/boards',
  'test/fault-matrix/objects',
  'test/clusterlabs/agent-program',
  'test/fault-matrix',
  'test/hour',
  'test/scenarios',
  'test/integration',
  'test/laws/search',
  'test/simulation/secondary-controllers/worlds',
  'test/installation',
  'test/clusterlabs',
  'test',
  'agents',
];

/** The files of a run, the longest first. */
export default class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId }: TestSpecification): number => {
      const file = relative(import.meta.dirname, moduleId).replace('../', '');
      const place = ORDER.findIndex((folder) => file.startsWith(folder));
      return place === -1 ? ORDER.length : place;
    };
    return (await super.sort(files)).toSorted((left, right) => placeOf(left) - placeOf(right));
  }
}
