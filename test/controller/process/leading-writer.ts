import { createApiServer, loadClusterConfig } from 'informerql/cluster'
import { LeadershipLostError, runLeaderElection } from 'informerql/controller'
import { resources } from 'informerql/informer'

/*
 * Competes for a lease, and while it leads makes one ConfigMap after the other, with its term. Prints `leads TERM`,
 * `ended TERM` and `lost REASON`. Its clock is wrong by so many milliseconds as the last argument says.
 */
const [namespace = '', identity = '', skewMs = '0'] = process.argv.slice(2)
const { now } = Date
Date.now = () => now() + Number(skewMs)

const apiServer = createApiServer({ config: loadClusterConfig() })
const stopping = new AbortController()
process.once('SIGTERM', () => stopping.abort())
const client = apiServer.client(resources.configMaps)
let writes = 0

async function write(term: number, signal: AbortSignal, deadlineMs: number): Promise<void> {
  writes += 1
  const metadata = { namespace, name: `${identity}-${writes}` }
  await client.create({ metadata, data: { identity, term: String(term) } }, { signal, deadlineMs })
}

while (!stopping.signal.aborted) {
  try {
    await runLeaderElection(
      {
        apiServer,
        namespace,
        name: 'writers',
        identity,
        leaseDurationMs: 5000,
        renewDeadlineMs: 3000,
        retryPeriodMs: 200,
        observer: { failed: () => {} },
      },
      {
        onStartedLeading: async (signal, { transitions, lost, remainingMs }) => {
          console.log(`leads ${transitions}`)
          while (!signal.aborted && remainingMs() > 0) {
            await write(transitions, lost, remainingMs()).catch(() => {})
          }
          console.log(`ended ${transitions}`)
        },
      },
      stopping.signal,
    )
  } catch (error) {
    console.log(error instanceof LeadershipLostError ? `lost ${error.reason}` : error)
  }
}
await apiServer[Symbol.asyncDispose]()
