// Devices that are told by commands over SSH.
import './ethernet-switch.ts';
import './fc-switch.ts';
import './scsi.ts';
import './ssh.ts';
import { testTogether } from './harness.ts';

// Each login is an exchange of keys, on both sides in this process.
testTogether(16);
