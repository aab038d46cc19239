import type { FaultOrder, RequestFault, ServerFault } from 'informerql/simulator'
import { pick } from './pick.ts'

/** A fault of the simulator as a whole. */
export function serverFault(random: () => number): ServerFault {
  return pick<ServerFault>(random, [
    { type: 'drop-connections' },
    { type: 'refuse-connections', forMs: 20 },
    { type: 'freeze-connections' },
    { type: 'end-watches', code: pick(random, [410, 429, 500]) },
    { type: 'compact-history' },
  ])
}

/** A fault of the next one to three lists or watches of config maps. */
export function simulatorRequestFault(random: () => number): FaultOrder {
  const fault = requestFault(random)
  const isOfFrames = 'frame' in fault || fault.type === 'no-initial-events-end'
  return {
    fault,
    // Lists have no frames.
    match: { resource: 'configmaps', verb: isOfFrames || random() < 0.67 ? 'watch' : 'list' },
    times: 1 + Math.floor(random() * 3),
  }
}

function requestFault(random: () => number): RequestFault {
  const frame = Math.floor(random() * 4)
  const bytes = Math.floor(random() * 3000)
  return pick<RequestFault>(random, [
    { type: 'status', code: pick(random, [403, 429, 500, 503]) },
    { type: 'expired' },
    {
      type: 'too-large-resource-version',
      encoding: pick(random, ['cause-reason', 'cause-message', 'message']),
    },
    { type: 'disconnect' },
    { type: 'half-open', afterBytes: bytes },
    { type: 'truncate', afterBytes: bytes },
    { type: 'slow', bytesPerSecond: 2000 + 10 * bytes },
    { type: 'split', everyBytes: 1 + (bytes % 900) },
    { type: 'duplicate-event', frame },
    { type: 'wrong-kind-event', frame },
    { type: 'malformed-event', frame },
    { type: 'error-event', frame, code: pick(random, [410, 429, 500]) },
    { type: 'no-initial-events-end' },
  ])
}
