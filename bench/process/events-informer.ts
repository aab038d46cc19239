/** Our informer's handler under updates. Arguments: the API server's URL, how long in milliseconds. */
import { createApiServer } from '../../src/api-server/api-server.ts'
import { loadClusterConfig } from '../../src/api-server/kubeconfig/cluster-lookup.ts'
import { createSharedInformer } from '../../src/informer.ts'
import { EventReport } from '../support/event-report.ts'
import { pods } from '../support/pod-resource.ts'

const [url = '', durationMs = ''] = process.argv.slice(2)
const server = createApiServer({ name: 'bench', config: loadClusterConfig({ server: url }) })
const informer = createSharedInformer({ resource: pods, source: server.resource(pods) })
const report = new EventReport()
informer.addEventHandler({
  onUpdate: (_, { metadata }) => report.arrived(metadata.annotations),
})
void informer.run(new AbortController().signal)
await informer.waitForSync({ deadlineMs: 120_000 })
await report.run(Number(durationMs))
process.exit(0)
