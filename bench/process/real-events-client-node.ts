/** Peer: client-node's informer under updates, on a real API server. Arguments: the kubeconfig's path, how long in ms. */
import { clientNodePods } from '../support/client-node-pods.ts'
import { EventReport } from '../support/event-report.ts'

const [kubeconfig = '', durationMs = ''] = process.argv.slice(2)
const informer = clientNodePods(kubeconfig)
const report = new EventReport()
informer.on('update', ({ metadata }) => report.arrived(metadata?.annotations))
await informer.start()
console.log('synced')
await report.run(Number(durationMs))
process.exit(0)
