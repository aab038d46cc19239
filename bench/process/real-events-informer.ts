/** Ours under updates, on a real API server. Arguments: the kubeconfig's path, how long in milliseconds. */
import { EventReport } from '../support/event-report.ts'
import { podInformer } from '../support/pod-informer.ts'

const [kubeconfig = '', durationMs = ''] = process.argv.slice(2)
const informer = podInformer(kubeconfig)
const report = new EventReport()
informer.addEventHandler({
  onUpdate: (_, { metadata }) => report.arrived(metadata.annotations),
})
void informer.run(new AbortController().signal)
await informer.waitForSync({ deadlineMs: 120_000 })
console.log('synced')
await report.run(Number(durationMs))
process.exit(0)
