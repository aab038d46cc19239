/**
 * Files and folders whose tests have a process of their own, since they look at the one that they run in (its memory, timers, warnings, clock), set it
 * under pressure, or run long. All others share one per worker, where modules are loaded and compiled once.
 */
export const ownProcess: readonly string[] = [
  'test/abuse/',
  'test/live-schedules/',
  'test/soak/',
  'test/work-queue/',
  'test/access/random-worlds.test.ts',
  'test/access/token-review.test.ts',
  'test/clients/web-socket-client.test.ts',
  'test/internals/failure-log.test.ts',
  'test/internals/long-lived-connections.test.ts',
  'test/internals/object-codec.test.ts',
  'test/internals/turns.test.ts',
  'test/gateway/stop.test.ts',
  'test/informer/closed-server.test.ts',
  'test/informer/memory.test.ts',
  'test/library/failures-heard.test.ts',
  'test/population/population.test.ts',
  'test/share/forwarding.test.ts',
]
