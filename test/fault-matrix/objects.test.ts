// Devices that are objects of an API server.
import './ack.ts';
import './ceph.ts';
import './job.ts';
import './kubevirt.ts';
import './metal3.ts';
import './watchdog.ts';
import { testTogether } from './harness.ts';

testTogether(36);
