// Devices that answer requests on the network: BMCs and PDUs.
import './ipmi.ts';
import './pdu.ts';
import './redfish.ts';
import { keepTogether } from './keeper.ts';

keepTogether(24);
