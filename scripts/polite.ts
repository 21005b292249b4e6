// For tests that compute and wait for nothing real: those that wait for processes and devices get a core as soon as they want one.
import { constants, setPriority } from 'node:os';

setPriority(constants.priority.PRIORITY_BELOW_NORMAL);
