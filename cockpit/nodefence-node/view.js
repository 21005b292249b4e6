// What the page says, as plain values: nothing here touches the page, so that it is tested by itself.

const TEXT_MAX = 1000;
const ROWS_MAX = 50;
/** Control characters, and what turns the direction of a line or cannot be seen: a node must not write what it does not say. */
const UNSEEN = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/gu;

const PHASES = {
  off: ['neutral', 'The self-fence of this node is off: its daemon attests what it has, and takes nothing down.'],
  waiting: ['warning', 'This node waits: nobody has kept it up since its start, and its watchdog stays closed.'],
  kept: ['good', 'This node is kept up.'],
  isolated: ['bad', 'This node is cut off: it takes itself down unless a controller or enough peers are heard again.'],
  stopping: ['bad', 'This node is cut off and stops its pods. There is no way back.'],
  down: ['bad', 'This node goes down: its watchdog is fed no more, and the machine is reset.'],
};

const WATCHDOGS = {
  armed: ['good', 'armed'],
  disarmed: ['warning', 'disarmed: it resets nothing'],
  unreliable: ['warning', 'not reliable: its silence proves nothing to others'],
  none: ['warning', 'none: nothing resets this machine when its daemon cannot'],
};

const HEALTHS = { ok: 'good', problem: 'bad', unknown: 'warning' };

/** The program says these itself; the rest is Cockpit's own name of a problem. */
const NOT_RUNNING = 'no node daemon runs here';
const NOT_PERMITTED = 'only the user of the daemon';

/** Text of the node as it may be shown: bounded, and without what cannot be seen. */
export function plain(value) {
  const text = value === undefined || value === null ? '' : typeof value === 'string' ? value : JSON.stringify(value);
  const shown = text.replace(UNSEEN, '\ufffd');
  return shown.length > TEXT_MAX ? `${shown.slice(0, TEXT_MAX)}…` : shown;
}

export function duration(seconds) {
  if (typeof seconds !== 'number' || !Number.isFinite(seconds)) return 'an unknown time';
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return whole < 172800 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86400)} days`;
}

/** The answer of `nodefence node status --output json` as the page shows it. Throws where it is none. */
export function viewOf(answer) {
  const status = JSON.parse(answer);
  const isStatus = isObject(status) && typeof status.node === 'string' && typeof status.phase === 'string' && isObject(status.watchdog);
  if (!isStatus) throw new TypeError('this is no status of a node daemon');
  const problems = listOf(status.problems).map(plain);
  const checks = checkRows(listOf(status.checks));
  const bad = checks.filter(({ level }) => level === 'bad').length;
  return {
    headline: headlineOf(status, problems.length + bad),
    sections: [
      { title: 'Problems', items: bounded(problems) },
      { title: 'This node', rows: nodeRows(status) },
      { title: 'What keeps it up', rows: keepingRows(status) },
      { title: 'Orders and storage registrations', rows: orderRows(status) },
      { title: 'Watchdog', rows: watchdogRows(status.watchdog) },
      { title: 'Storage and other checks', rows: checks },
    ].filter(({ items, rows }) => (items ?? rows).length > 0),
  };
}

/** What the page says where there is no answer: one sentence of what is, one of what to do. */
export function failureOf(error) {
  const problem = plain(error?.problem);
  const message = plain(error?.message);
  if (problem === 'not-found')
    return 'The program nodefence was not found on this machine. Install it, so that the command nodefence is in /usr/local/bin or /usr/bin.';
  if (['access-denied', 'not-authorized', 'authentication-failed'].includes(problem) || message.includes(NOT_PERMITTED))
    return 'You are not permitted to ask the node daemon. Switch on administrative access at the top of Cockpit; this page then asks again.';
  if (message.includes(NOT_RUNNING))
    return 'No node daemon runs on this machine. If it should: systemctl status nodefence-node, or the pods of the DaemonSet nodefence-node.';
  if (problem === 'timeout') return 'The node daemon did not answer in time. It is asked again; if it stays so: systemctl status nodefence-node.';
  if (['disconnected', 'terminated', 'no-host', 'no-session'].includes(problem))
    return 'The connection to this machine was lost. Load the page anew when Cockpit is connected again.';
  if (error instanceof SyntaxError || error instanceof TypeError)
    return 'What answered is no status of a node daemon. Install the page and the program nodefence of the same version.';
  return `The status could not be read: ${message || problem || 'no reason was given'}`;
}

function headlineOf({ phase, areGrantsEnded }, problems) {
  const [level, text] = Object.hasOwn(PHASES, phase)
    ? PHASES[phase]
    : ['warning', `The daemon is in the phase ${plain(phase)}, which this page does not know.`];
  if (areGrantsEnded === true && level !== 'bad')
    return { level: 'bad', text: 'The controllers have ended the grants of this boot: the node goes down, and comes back with a new boot.' };
  if (problems === 0) return { level, text };
  return {
    level: level === 'good' || level === 'neutral' ? 'warning' : level,
    text: `${text} It has ${problems} ${problems === 1 ? 'problem' : 'problems'}.`,
  };
}

function nodeRows({ node, bootID, phase, attestedSecondsAgo }) {
  return [
    row('Node', node),
    row('Boot', bootID),
    row('Phase', phase),
    attestedSecondsAgo === undefined
      ? { label: 'Attested', text: 'never: the API server has not taken what this node says of itself', level: 'warning' }
      : row('Attested', `${duration(attestedSecondsAgo)} ago`),
  ];
}

function keepingRows({ keptForSeconds, grantedSecondsAgo, areGrantsEnded, controllers, peers, refusedDatagrams }) {
  const refused = Object.entries(isObject(refusedDatagrams) ? refusedDatagrams : {});
  const named = listOf(peers).filter(isObject);
  return [
    ...(typeof keptForSeconds !== 'number'
      ? []
      : keptForSeconds < 0
        ? [{ label: 'Kept up', text: `not since ${duration(-keptForSeconds)} ago`, level: 'bad' }]
        : [{ label: 'Kept up', text: `for ${duration(keptForSeconds)} more, if nobody is heard`, level: 'good' }]),
    areGrantsEnded === true
      ? { label: 'Grants', text: 'ended by the controllers: this boot goes down', level: 'bad' }
      : row('Last grant', grantedSecondsAgo === undefined ? 'none yet' : `${duration(grantedSecondsAgo)} ago`),
    row('Controllers', listOf(controllers).map(plain).join(', ') || 'none known'),
    row('Peers that may vouch', bounded(named.map(peerText)).join('; ') || 'none'),
    ...refused.slice(0, ROWS_MAX).map(([why, count]) => ({ label: 'Refused', text: plain(`${plain(count)} datagrams: ${why}`), level: 'warning' })),
  ];
}

function peerText({ node, domain, isAttested }) {
  return plain(`${plain(node)}${domain === undefined ? '' : ` (${plain(domain)})`}${isAttested === true ? '' : ', not attested yet'}`);
}

function watchdogRows({ state, device, identity, timeoutSeconds, feeds }) {
  const [level, text] = Object.hasOwn(WATCHDOGS, state) ? WATCHDOGS[state] : ['warning', plain(state)];
  return [
    { label: 'State', text, level },
    ...(device === undefined ? [] : [row('Device', `${plain(device)} (${plain(identity)})`)]),
    ...(timeoutSeconds === undefined ? [] : [row('Resets the machine', `when it was not fed for ${duration(timeoutSeconds)}`)]),
    row('Fed', `${plain(feeds)} times`),
  ];
}

function orderRows({ orders, unfence }) {
  return [
    ...listOf(orders)
      .filter(isObject)
      .slice(-ROWS_MAX)
      .map(({ action, state, words }) => row('Order', `${plain(action)}: ${plain(state)}: ${plain(words)}`)),
    ...(isObject(unfence) ? [row('Registrations', `${plain(unfence.state)} (${plain(unfence.detail)})`)] : []),
  ];
}

function checkRows(checks) {
  return checks
    .filter(isObject)
    .slice(0, ROWS_MAX)
    .map(({ name, health, sentence, secondsAgo }) => ({
      label: plain(name),
      text: `${health === 'unknown' ? 'not checked: ' : ''}${plain(sentence)} (${duration(secondsAgo)} ago)`,
      level: Object.hasOwn(HEALTHS, health) ? HEALTHS[health] : 'warning',
    }));
}

function bounded(items) {
  return items.length <= ROWS_MAX ? items : [...items.slice(0, ROWS_MAX), `and ${items.length - ROWS_MAX} more`];
}

function row(label, text) {
  return { label, text: plain(text) };
}

function listOf(value) {
  return Array.isArray(value) ? value : [];
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
