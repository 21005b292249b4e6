import { byTest } from './source-mutant.ts';
import type { SourceMutant } from './source-mutant.ts';

const READ = 'agents/gce/read.test.ts';
const SET = 'agents/gce/set.test.ts';

/** Defects of the agent gce. */
export const GCE_MUTANTS: readonly SourceMutant[] = [
  {
    name: 'gce suspended is off',
    defect: 'an instance whose memory is kept, and that would write on after a resume, is off',
    file: 'agents/gce/instance-view.ts',
    edits: [["['SUSPENDED', { state: 'unknown', why: SUSPENDED }]", "['SUSPENDED', { state: 'off' }]"]],
    killedBy: byTest(READ, 'says of a suspended instance that it is not off, and why'),
  },
  {
    name: 'gce stopping is off',
    defect: 'an instance that sticks in STOPPING is off',
    file: 'agents/gce/instance-view.ts',
    edits: [["['STOPPING', { state: 'pending' }]", "['STOPPING', { state: 'off' }]"]],
    killedBy: byTest(READ, 'calls "STOPPING" pending, and tells the word'),
  },
  {
    name: 'gce name as id',
    defect: 'the stop goes to the name, which another instance may bear by then',
    file: 'agents/gce/account.ts',
    edits: [['/instances/${instance.id}/${verb}?', '/instances/${place.instance}/${verb}?']],
    killedBy: byTest(SET, 'goes to the numeric id: an instance that is replaced after it was read is not hit'),
  },
  {
    name: 'gce new request id',
    defect: 'a successor sends another request id, and the cloud does it twice',
    file: 'agents/gce/request-id.ts',
    edits: [['if (intent === undefined) return randomUUID();', 'if (intent !== null) return randomUUID();']],
    killedBy: byTest(SET, 'has the same request id for whoever goes on with the same intent, so that the cloud does it once'),
  },
  {
    name: 'gce failed operation forgotten',
    defect: 'a stop that ended in an error after it was accepted is not told',
    file: 'agents/gce/account.ts',
    edits: [['if (operation?.failure !== undefined) return this.#failed(place, own, `ended with ${operation.failure}`);', '']],
    killedBy: byTest(SET, 'that ends in an error after it was accepted is told in its own words by every later read'),
  },
  {
    name: 'gce off while stopping',
    defect: 'an instance that says TERMINATED is off while our own stop is under way',
    file: 'agents/gce/account.ts',
    edits: [["instance.state === 'off' && isUnderWay ? 'pending' : instance.state", 'instance.state']],
    killedBy: byTest(SET, 'that is under way keeps an instance from being off that says so already'),
  },
  {
    name: 'gce graceful stop',
    defect: 'the stop waits for a graceful shutdown',
    file: 'agents/gce/account.ts',
    edits: [["if (state === 'off') query.set('noGracefulShutdown', 'true');", '']],
    killedBy: byTest(SET, 'skips the graceful shutdown, names its request, and is only accepted: the read decides'),
  },
  {
    name: 'gce replaced in mid-fence',
    defect: 'another instance that bears the name in the middle of a fence is taken for the first one',
    file: 'agents/gce/account.ts',
    edits: [['if (replaced !== undefined) throw', "if (replaced === '') throw"]],
    killedBy: byTest(READ, 'is that of another machine where the instance is replaced in mid-fence, whatever else looks the same'),
  },
  {
    name: 'gce local SSD kept',
    defect: 'an instance with local SSDs is told to stop without discarding them, which the cloud refuses',
    file: 'agents/gce/account.ts',
    edits: [["if (state === 'off' && instance.hasLocalSsd) query.set('discardLocalSsd', 'true');", '']],
    killedBy: byTest(SET, 'discards local SSDs where the instance has any, for the cloud does not stop it otherwise'),
  },
  {
    name: 'gce project compared',
    defect: 'an instance of another project counts as the own one where the parameters give the project by its number',
    file: 'agents/gce/instance-view.ts',
    edits: [['projects.some((project) => isNumeric(project) === isNumeric(named.project))', '![named.project, ...projects].some(isNumeric)']],
    killedBy: byTest('agents/gce/instance-view.test.ts', 'of which the Node names 456, the parameters 123 and its own path mine is other'),
  },
];
