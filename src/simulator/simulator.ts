import type { SimulatorUser } from './http/authentication.ts'
import { capturedApi } from './api/captured-api.ts'
import { serveCustomResources } from './definitions/custom-resources.ts'
import type { Faults } from './faults/faults.ts'
import { ResourceRegistry } from './api/resource-registry.ts'
import { SimulatedServer } from './http/server.ts'
import { Storage } from './storage/storage.ts'
import { addSystemObjects } from './storage/system-objects.ts'

/** What a simulated API server is made from. */
export interface SimulatorOptions {
  /** Default 0: any free one. */
  readonly port?: number
  /** Default `127.0.0.1`. */
  readonly host?: string
  /** How many events of each resource can be resumed from. Default 10,000. */
  readonly historyEvents?: number
  /** How often a quiet watch gets a bookmark; 0: never. Default a minute. */
  readonly bookmarkIntervalMs?: number
  /** Who may come; nobody listed: everybody may do anything. */
  readonly users?: readonly SimulatorUser[]
  /** Writes the first objects, before anybody can watch; they leave no history. */
  readonly populate?: (storage: Storage) => void
}

/** A simulated API server that is running. */
export interface Simulator extends AsyncDisposable {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string
  /** Its objects, for those who write without HTTP. */
  readonly storage: Storage
  readonly faults: Faults
}

/** Starts a server that behaves as kube-apiserver 1.36 does for reading and writing objects. */
export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  const storage = new Storage(new ResourceRegistry(capturedApi()), {
    historyEvents: options.historyEvents ?? 10_000,
    firstRevision: 1000,
  })
  storage.withoutHistory(() => {
    options.populate?.(storage)
    addSystemObjects(storage)
    serveCustomResources(storage)
  })
  const server = new SimulatedServer(storage, {
    port: options.port ?? 0,
    host: options.host ?? '127.0.0.1',
    bookmarkIntervalMs: options.bookmarkIntervalMs ?? 60_000,
    users: options.users ?? [],
  })
  const url = await server.start()
  return {
    url,
    storage,
    faults: server.faults,
    [Symbol.asyncDispose]: async () => server.stop(),
  }
}
