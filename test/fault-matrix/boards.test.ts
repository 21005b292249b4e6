// Devices that answer requests on the network: BMCs and PDUs.
import './ipmi.ts';
import './pdu.ts';
import './redfish.ts';
import { testTogether } from './harness.ts';

testTogether(24);
