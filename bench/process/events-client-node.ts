/** Baseline: client-node's informer under updates. Arguments: the API server's URL, how long in milliseconds. */
import { CoreV1Api, KubeConfig, makeInformer } from '@kubernetes/client-node'
import { EventReport } from '../support/event-report.ts'

const [url = '', durationMs = ''] = process.argv.slice(2)
const config = new KubeConfig()
config.loadFromClusterAndUser(
  { name: 'bench', server: url, skipTLSVerify: true },
  { name: 'bench' },
)
const api = config.makeApiClient(CoreV1Api)
const informer = makeInformer(config, '/api/v1/pods', () => api.listPodForAllNamespaces())
const report = new EventReport()
informer.on('update', ({ metadata }) => report.arrived(metadata?.annotations))
informer.on('error', (error: unknown) => {
  throw error
})
await informer.start()
await report.run(Number(durationMs))
process.exit(0)
