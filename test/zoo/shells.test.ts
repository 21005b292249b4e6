// Devices that are told by commands over SSH.
import './ethernet-switch.ts';
import './fc-switch.ts';
import './scsi.ts';
import './ssh.ts';
import { keepTogether } from './keeper.ts';

// Each login is an exchange of keys, on both sides in this process.
keepTogether(16);
